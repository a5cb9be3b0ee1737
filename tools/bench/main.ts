import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { resolveTemporal } from '../temporal-server/programs.ts';
import type { Benchmark } from './bench.ts';
import { describeMachine } from './harness/machine.ts';
import { renderTable, writeReport } from './harness/report.ts';
import { createResources, type Resources } from './harness/resources.ts';
import { type BenchmarkName, optionsOf, parseOptions, USAGE } from './options.ts';
import { keep, keptResult, readKept, writeAll, writePages } from './page/kept-result.ts';
import type { KeptResult } from './page/render-page.ts';
import { activities } from './sets/activities.bench.ts';
import { auth } from './sets/auth.bench.ts';
import { checkIns } from './sets/check-ins.bench.ts';
import { computers } from './sets/computers.bench.ts';
import { exchanges } from './sets/exchanges.bench.ts';
import { fairness } from './sets/fairness.bench.ts';
import { growth } from './sets/growth.bench.ts';
import { intervals } from './sets/intervals.bench.ts';
import { idle } from './sets/idle.bench.ts';
import { login } from './sets/login.bench.ts';
import { map } from './sets/map.bench.ts';
import { observability } from './sets/observability.bench.ts';
import { packages } from './sets/packages.bench.ts';
import { recovery } from './sets/recovery.bench.ts';
import { report } from './sets/report.bench.ts';
import { scheduler } from './sets/scheduler.bench.ts';
import { single } from './sets/single.bench.ts';
import { snaps } from './sets/snaps.bench.ts';
import { soak } from './sets/soak.bench.ts';
import { startup } from './sets/startup.bench.ts';
import { usg } from './sets/usg.bench.ts';
import { waiters } from './sets/waiters.bench.ts';
import { webhooks } from './sets/webhooks.bench.ts';

const BENCHMARKS: Readonly<Record<BenchmarkName, Benchmark>> = {
  startup,
  auth,
  login,
  checkins: checkIns,
  exchanges,
  single,
  intervals,
  snaps,
  growth,
  recovery,
  computers,
  activities,
  usg,
  scheduler,
  report,
  fairness,
  observability,
  soak,
  idle,
  packages,
  waiters,
  webhooks,
  map,
};

const env = process.env;
const root = fileURLToPath(new URL('../..', import.meta.url));
let current: Resources | null = null;
let interrupted = false;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (interrupted) return;
    interrupted = true;
    process.stderr.write(`\n${signal}: cleaning up\n`);
    void (current?.release() ?? Promise.resolve()).finally(() => process.exit(130));
  });
}

const options = readOptions();
const machine = describeMachine(root);
if (options.mode !== 'page') {
  console.log(
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryMiB} MiB, Linux ${machine.kernel}, Node ${machine.node}, ` +
      `commit ${machine.commit}, load average ${loadavg()
        .map((load) => load.toFixed(2))
        .join(' ')}`,
  );
  // A new machine builds the server first, which takes longer than any start may.
  const bin = env['FLOTILLA_TEMPORAL_SERVER_DIR'] || null;
  await resolveTemporal({ bin, env, report: (text) => process.stderr.write(`${text}\n`) });
}
const results: KeptResult[] = [];
for (const [index, name] of options.names.entries()) {
  if (options.names.length > 1) process.stderr.write(`\n${index + 1} of ${options.names.length}: ${name}\n`);
  const result = await runOne(name);
  if (result) results.push(result);
  if (interrupted) break;
}
if (options.mode === 'all' && results.length > 0)
  console.log(`\nAll: ${writeAll(root, results, new Date()).join(', ')}`);
if (options.mode === 'page' || (options.keep && results.length > 0)) {
  console.log(`Page: ${writePages(root, readKept(root))}`);
}

/** @returns null when it is void */
async function runOne(name: BenchmarkName): Promise<KeptResult | null> {
  const resources = createResources(env);
  current = resources;
  const started = performance.now();
  const progress = (text: string) =>
    process.stderr.write(`[${name} ${Math.round((performance.now() - started) / 1000)} s] ${text}\n`);
  try {
    const own = optionsOf(options, name);
    const found = await BENCHMARKS[name]({ options: own, resources, root, machine, progress });
    const at = new Date();
    const made = { on: options.on, command: process.argv.slice(2).join(' ') };
    console.log(`\n${renderTable(found)}\nJSON: ${writeReport(root, { ...made, ...found }, machine, at)}`);
    const result = keptResult(found, { at, machine, ...made });
    if (options.keep) keep(root, result);
    return result;
  } catch (error) {
    if (!interrupted) console.error(`\n== ${name}: void\n${error instanceof Error ? error.stack : String(error)}`);
    process.exitCode = 1;
    return null;
  } finally {
    await resources.release();
    current = null;
  }
}

function readOptions() {
  try {
    const parsed = parseOptions(process.argv.slice(2));
    if (!parsed.help) return parsed;
    console.log(USAGE);
    process.exit(0);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exit(1);
  }
}
