import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Options, parseOptions, USAGE } from './options.ts';
import { runSeeds } from './run/driver.ts';
import { keepLogs, progressLine, renderSummary, repeatLine, writeReport } from './run/report.ts';
import type { Outcome } from './run/seed.ts';
import type { FaultWorld } from './world/world.ts';

/** `npm run faults`: random faults under mixed work, by seeds. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const outcomes: Outcome[] = [];
let world: FaultWorld | null = null;
let interrupted = false;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (interrupted) return;
    interrupted = true;
    process.stderr.write(`\n${signal}: cleaning up\n`);
    finish();
    void (world?.end() ?? Promise.resolve()).finally(() => process.exit(130));
  });
}

const options = readOptions();
if (options.rows) process.exit(runRows());
await runSeeds({
  ...options,
  onWorld: (current) => {
    world = current;
  },
  onOutcome: (outcome, place) => {
    outcomes.push(outcome);
    process.stdout.write(`${progressLine(outcome, place, options.seeds.length)}\n`);
    if (outcome.violations.length === 0) return;
    process.stdout.write(`${repeatLine(outcome, options.computers)}\n`);
    if (world) process.stdout.write(`    logs: ${keepLogs(root, outcome, world.stack.dataDir)}\n`);
  },
}).catch((error: unknown) => {
  if (!interrupted) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
if (!interrupted) finish();

function finish(): void {
  process.stdout.write(`${renderSummary(outcomes)}\n${writeReport(root, outcomes, new Date())}\n`);
  if (outcomes.some(({ violations }) => violations.length > 0)) process.exitCode = 1;
}

/** Every row of the matrix in its long form. @returns the exit code */
function runRows(): number {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', 'test/faults/rows.test.ts', '--reporter=verbose'];
  const env = { ...process.env, FLOTILLA_FAULTS_LONG: '1' };
  return spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' }).status ?? 1;
}

function readOptions(): Options {
  try {
    const parsed = parseOptions(process.argv.slice(2));
    if (!parsed.help) return parsed;
    process.stdout.write(`${USAGE}\n`);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}\n`);
    process.exit(1);
  }
}
