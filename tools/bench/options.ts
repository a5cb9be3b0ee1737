import { parseArgs } from 'node:util';

export const BENCHMARKS = [
  'startup',
  'auth',
  'login',
  'checkins',
  'exchanges',
  'single',
  'intervals',
  'snaps',
  'growth',
  'recovery',
  'computers',
  'activities',
  'usg',
  'scheduler',
  'report',
  'fairness',
  'observability',
  'soak',
  'idle',
  'packages',
  'waiters',
  'webhooks',
  'map',
] as const;
export type BenchmarkName = (typeof BENCHMARKS)[number];

/** Kinds of product: `npm start`, or `npm run topology` with each part in its own process. */
export const PRODUCTS = ['embedded', 'topology'] as const;
export type Product = (typeof PRODUCTS)[number];

/** Sets that start and stop the embedded stack themselves. */
export const EMBEDDED_ONLY: readonly BenchmarkName[] = ['startup', 'recovery'];

/** What to run and how long. */
export interface Options {
  names: readonly BenchmarkName[];
  /** `all`: every benchmark with sizes for a small machine; `page`: only the page of the kept results. */
  mode: 'named' | 'all' | 'page';
  on: Product;
  /** Group sizes of `snaps` and `growth`, fleet sizes of the others, ascending; defaults depend on the benchmark. */
  computers?: readonly number[];
  /** Rows of `activities` and `observability`. */
  activities: number;
  profiles: number;
  rounds: number;
  /** Rounds of benchmarks whose rounds take minutes; default two. */
  longRounds: number;
  /** Length of one round of `auth`, `login`, `checkins` and `exchanges`. */
  seconds: number;
  minutes: number;
  /** Seconds between two pings of a simulated agent; by the size of the fleet when absent. */
  pingSeconds?: number;
  /** Give verdicts even on a busy machine. */
  judgeAnyway: boolean;
  keep: boolean;
  help: boolean;
}

export const USAGE = `npm run bench -- [name ...] [options]

  names: ${BENCHMARKS.join(', ')},
  all    every one with sizes for a small machine; the same when no name is given
  page   renders docs/benchmarks.md and docs/benchmarks/*.md from the results that are kept

  --on embedded            or topology: two APIs, two gateways, three workers, the Temporal server on PostgreSQL
                           (not ${EMBEDDED_ONLY.join(', ')})
  --computers N,N          (or --sizes) group sizes of snaps (1000,10000) and growth (1000,3000,10000), fleet sizes of
                           computers (1000,10000,100000) and, the last one, of usg, report, idle, map (100000), waiters (10000), recovery (1000),
                           soak (500), the group of fairness (100000)
  --activities 1000000     events of webhooks, rows of activities and observability (on 10,000 computers unless --computers is given)
  --profiles 10000         profiles of scheduler that are due at one moment
  --rounds 5               measured rounds of each side, after one warm-up; rounds of minutes
                           are two unless you request more
  --seconds 5              length of one round of auth, login, checkins, exchanges and intervals
  --minutes 10             length of soak
  --ping-seconds N         how often simulated agents ping (default: 1,250 pings/s of the whole fleet; real agents: 30)
  --judge-anyway           verdicts in spite of foreign load or steal above 10 %
  --keep                   keep the results in docs/benchmarks and render the pages

A try in a minute or two: npm run bench -- snaps --computers 200,1000 --rounds 2
                          npm run bench -- usg report --computers 1000 --rounds 2`;

/** Reads the command line. @throws {TypeError} naming the wrong option */
export function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      on: { type: 'string', default: 'embedded' },
      computers: { type: 'string' },
      sizes: { type: 'string' },
      activities: { type: 'string' },
      profiles: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      minutes: { type: 'string' },
      'ping-seconds': { type: 'string' },
      'judge-anyway': { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const mode = modeOf(positionals);
  const on = PRODUCTS.find((known) => known === values.on) ?? fail(`--on must be ${PRODUCTS.join(' or ')}`);
  const bounds = mode === 'all' ? SMALL : LARGE;
  const computers = values.computers ?? values.sizes;
  return {
    names: namesOf(mode, positionals, on),
    mode,
    on,
    ...(computers ? { computers: sizes(computers) } : {}),
    activities: whole('--activities', values.activities, bounds.activities, 1000, 10_000_000),
    profiles: whole('--profiles', values.profiles, bounds.profiles, 1, 100_000),
    rounds: whole('--rounds', values.rounds, bounds.rounds, 1, 100),
    longRounds: whole('--rounds', values.rounds, LONG_ROUNDS, 1, 100),
    seconds: whole('--seconds', values.seconds, bounds.seconds, 1, 600),
    minutes: whole('--minutes', values.minutes, bounds.minutes, 1, 10_000),
    ...(values['ping-seconds'] ? { pingSeconds: whole('--ping-seconds', values['ping-seconds'], 0, 1, 3600) } : {}),
    judgeAnyway: values['judge-anyway'],
    keep: values.keep,
    help: values.help,
  };
}

const LARGE = { activities: 1_000_000, profiles: 10_000, rounds: 5, seconds: 5, minutes: 10 } as const;
const SMALL = { activities: 100_000, profiles: 500, rounds: 3, seconds: 3, minutes: 3 } as const;

const LONG_ROUNDS = 2;

const SMALL_FLEETS: Partial<Record<BenchmarkName, readonly number[]>> = {
  snaps: [1000],
  growth: [250, 500, 1000, 2000],
  recovery: [500],
  computers: [1000, 10_000],
  activities: [1000],
  usg: [500],
  report: [1000],
  fairness: [2000],
  observability: [500],
  soak: [300],
  map: [10_000],
};

/** The options for one benchmark. */
export function optionsOf(options: Options, name: BenchmarkName): Options {
  const fleets = options.mode === 'all' ? SMALL_FLEETS[name] : undefined;
  return options.computers || !fleets ? options : { ...options, computers: fleets };
}

function modeOf(positionals: readonly string[]): Options['mode'] {
  if (positionals.length === 0) return 'all';
  const modes = positionals.filter((name) => name === 'all' || name === 'page');
  if (modes.length > 0 && positionals.length > 1) fail(`"${modes[0]}" stands alone`);
  return modes[0] === 'all' ? 'all' : modes[0] === 'page' ? 'page' : 'named';
}

function namesOf(mode: Options['mode'], positionals: readonly string[], on: Product): readonly BenchmarkName[] {
  if (mode === 'page') return [];
  const fits = (name: BenchmarkName) => on === 'embedded' || !EMBEDDED_ONLY.includes(name);
  if (mode === 'all') return BENCHMARKS.filter(fits);
  const names = positionals.map((name) => BENCHMARKS.find((known) => known === name) ?? fail(`no benchmark "${name}"`));
  const unfit = names.find((name) => !fits(name));
  if (unfit) fail(`${unfit} runs on the embedded stack only`);
  return [...new Set(names)];
}

function sizes(text: string): number[] {
  const distinct = new Set(text.split(',').map((size) => whole('--computers', size, 0, 1, 100_000)));
  return [...distinct].sort((a, b) => a - b);
}

function whole(name: string, text: string | undefined, fallback: number, min: number, max: number): number {
  if (text === undefined) return fallback;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : fail(`${name} must be whole numbers from ${min} to ${max}`);
}

function fail(message: string): never {
  throw new TypeError(message);
}
