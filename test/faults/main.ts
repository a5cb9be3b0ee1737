import { fileURLToPath } from 'node:url';
import { type Options, parseOptions, USAGE } from './options.ts';
import { runSeeds } from './run/driver.ts';
import { progressLine, renderSummary, repeatLine, writeReport } from './run/report.ts';
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
await runSeeds({
  ...options,
  onWorld: (current) => {
    world = current;
  },
  onOutcome: (outcome, place) => {
    outcomes.push(outcome);
    process.stdout.write(`${progressLine(outcome, place, options.seeds.length)}\n`);
    if (outcome.violations.length > 0) process.stdout.write(`${repeatLine(outcome, options.computers)}\n`);
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
