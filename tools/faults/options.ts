import { parseArgs } from 'node:util';

/** What to run. */
export interface Options {
  seeds: readonly number[];
  computers: number;
  /** Seeds that share one stack. */
  perStack: number;
  /** Runs the cases of the matrix in their long form instead of seeds. */
  rows: boolean;
  /** Draw faults only from these rows of the matrix. */
  onlyRows: readonly number[];
  help: boolean;
}

export const USAGE = `npm run faults -- [options]

Runs mixed work over a real stack with faults among it, one seed after another, and checks the invariants I1 to I7
after each from the agents' execution logs, the databases and Temporal. Exit code 1 when a seed failed.

  --seeds 20          how many seeds
  --from 1            the first of them
  --seed S            this one alone, to repeat it
  --computers 40      simulated computers of the first account
  --only 4,13         faults of these rows of the matrix alone
  --per-stack 40      seeds on one stack before a fresh one
  --rows              every row of the fault matrix in its long form instead of seeds

The report is written to build/faults.`;

/** Reads the command line. @throws {TypeError} naming the wrong option */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '20' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      computers: { type: 'string', default: '40' },
      only: { type: 'string' },
      'per-stack': { type: 'string', default: '40' },
      rows: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const from = whole('--from', values.seed ?? values.from, 0, 1_000_000_000);
  const count = values.seed === undefined ? whole('--seeds', values.seeds, 1, 1_000_000) : 1;
  return {
    seeds: Array.from({ length: count }, (_, i) => from + i),
    computers: whole('--computers', values.computers, 12, 2000),
    perStack: whole('--per-stack', values['per-stack'], 1, 10_000),
    onlyRows: (values.only?.split(',') ?? []).map((row) => whole('--only', row, 1, 30)),
    rows: values.rows,
    help: values.help,
  };
}

function whole(name: string, text: string, min: number, max: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new TypeError(`${name} must be a whole number from ${min} to ${max}`);
}
