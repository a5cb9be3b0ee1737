import { parseArgs } from 'node:util';

export const BENCHMARKS = [
  'startup',
  'auth',
  'login',
  'checkins',
  'snaps',
  'computers',
  'activities',
  'usg',
  'report',
  'fairness',
] as const;
export type BenchmarkName = (typeof BENCHMARKS)[number];

/** What to run and how long. */
export interface Options {
  names: readonly BenchmarkName[];
  /** Group sizes of `snaps`, fleet sizes of `computers`, `usg` and `report`, ascending; each has its own when absent. */
  computers?: readonly number[];
  /** Rows of `activities`. */
  activities: number;
  rounds: number;
  /** Length of one round of `auth`, `login` and `checkins`. */
  seconds: number;
  /** Seconds between two pings of a simulated agent; by the size of the fleet when absent. */
  pingSeconds?: number;
  /** Give verdicts although the machine is busy with other things. */
  judgeAnyway: boolean;
  help: boolean;
}

export const USAGE = `npm run bench -- [name ...] [options]

  names: ${BENCHMARKS.join(', ')} (all when none is given)

  --computers N,N          group sizes of snaps (1000,10000), fleet sizes of computers (1000,10000,100000)
                           and, the last one, of usg and report (10000)
                           of the group of fairness (100000)
  --activities 1000000     rows of activities (on 10,000 computers unless --computers says otherwise)
  --rounds 5               measured rounds of each side, after one warm-up
  --seconds 5              length of one round of auth, login and checkins
  --ping-seconds N         how often simulated agents ping (default: 2,000 pings/s of the whole fleet; real agents: 30)
  --judge-anyway           verdicts in spite of foreign load or steal above 10 %

A try in a minute or two: npm run bench -- snaps --computers 200,1000 --rounds 2
                          npm run bench -- usg report --computers 1000 --rounds 2`;

/**
 * Reads the command line.
 *
 * @throws {TypeError} naming the wrong option
 */
export function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      computers: { type: 'string' },
      activities: { type: 'string', default: '1000000' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '5' },
      'ping-seconds': { type: 'string' },
      'judge-anyway': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const names = positionals.map((name) => BENCHMARKS.find((known) => known === name) ?? fail(`no benchmark "${name}"`));
  return {
    names: names.length > 0 ? [...new Set(names)] : BENCHMARKS,
    ...(values.computers ? { computers: sizes(values.computers) } : {}),
    activities: whole('--activities', values.activities, 1000, 10_000_000),
    rounds: whole('--rounds', values.rounds, 1, 100),
    seconds: whole('--seconds', values.seconds, 1, 600),
    ...(values['ping-seconds'] ? { pingSeconds: whole('--ping-seconds', values['ping-seconds'], 1, 3600) } : {}),
    judgeAnyway: values['judge-anyway'],
    help: values.help,
  };
}

function sizes(text: string): number[] {
  const distinct = new Set(text.split(',').map((size) => whole('--computers', size, 1, 100_000)));
  return [...distinct].sort((a, b) => a - b);
}

function whole(name: string, text: string, min: number, max: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : fail(`${name} must be whole numbers from ${min} to ${max}`);
}

function fail(message: string): never {
  throw new TypeError(message);
}
