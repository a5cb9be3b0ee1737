import { parseArgs } from 'node:util';
import { localHost } from '../../src/process/config.ts';
import type { FleetOptions } from './fleet.ts';

export const HELP = `npm run fleet -- [options]

Simulated computers whose agents enrol at a gateway and do what it requests. Without an address they enrol at the npm start
that runs in the project, or in FLOTILLA_DATA_DIR.

  --computers N           how many (default FLOTILLA_SIMULATED_COMPUTERS, else 25)
  --url URL[,URL...]      the gateway, or several that are used in turn
                          (default FLOTILLA_PUBLIC_URL, else made of FLOTILLA_HOST and FLOTILLA_PORT)
  --account NAME          account to enrol in (default standalone)
  --registration-key KEY  its registration key (default FLOTILLA_REGISTRATION_KEY, else none)
  --seed N                determines everything random (default 1; beside npm start any, which is printed)
  --state FILE            keeps identities, counters and unsent results across restarts (default: none)
  --execution-log FILE    one JSON line for each executed operation (default: none)
  --connections N         maximum connections to the gateway (default 64)
  --audit-rules N         rules that a compliance audit checks (default 38)

Times, in seconds; defaults suit the size of the fleet:
  --ping-interval S       between pings of a computer (default 2, or computers/500 if more)
  --urgent-interval S     from "messages wait", or a result, to the exchange (default 1)
  --exchange-interval S   between regular exchanges (default 900)
  --operation-time S      usual time of an operation (default 0.3)
  --retry-interval S      first wait after a failed exchange (default 1, or computers/1000 if more)

Faults, as shares from 0 to 1:
  --offline S             computers that go offline once they enrolled and reported their facts
  --slow S                computers whose operations take ten times as long
  --failing S             operations that fail
  --lost-responses S      exchanges whose response is lost; the payload is sent again
  --duplicate-sends S     exchanges sent twice
  --die-before S          operations before which the agent crashes
  --die-after S           operations after which the agent crashes without reporting them; they run twice

  --help                  this text

A set-intervals message of the server overrides the times, also in later runs with the same state.
State and execution log survive kill -9.`;

export type CommandLine = Omit<FleetOptions, 'logger'> | 'help';

/** The message names the invalid option. */
export class UsageError extends Error {}

const VALUE = { type: 'string' } as const;

const OPTIONS = {
  computers: VALUE,
  url: VALUE,
  account: VALUE,
  'registration-key': VALUE,
  seed: VALUE,
  state: VALUE,
  'execution-log': VALUE,
  connections: VALUE,
  'audit-rules': VALUE,
  'ping-interval': VALUE,
  'urgent-interval': VALUE,
  'exchange-interval': VALUE,
  'operation-time': VALUE,
  'retry-interval': VALUE,
  offline: VALUE,
  slow: VALUE,
  failing: VALUE,
  'lost-responses': VALUE,
  'duplicate-sends': VALUE,
  'die-before': VALUE,
  'die-after': VALUE,
  help: { type: 'boolean', short: 'h' },
} as const;

type Name = keyof typeof OPTIONS;

/** Environment variables the command falls back to. */
export type Environment = Readonly<
  Partial<
    Record<
      | 'FLOTILLA_SIMULATED_COMPUTERS'
      | 'FLOTILLA_PUBLIC_URL'
      | 'FLOTILLA_HOST'
      | 'FLOTILLA_PORT'
      | 'FLOTILLA_REGISTRATION_KEY',
      string
    >
  >
>;

const MAX_COMPUTERS = 200_000;
const SHORTEST_SECONDS = 0.01;
const LONGEST_SECONDS = 86_400;

/** @throws {UsageError} on an invalid option */
export function parseCommandLine(args: readonly string[], env: Environment): CommandLine {
  const values = parse(args);
  if (values.help) return 'help';
  const read = new OptionReader(values);
  return {
    computers: read.whole('computers', 0, MAX_COMPUTERS, env.FLOTILLA_SIMULATED_COMPUTERS || '25')!,
    url: urlOf(values.url ?? (env.FLOTILLA_PUBLIC_URL || localUrl(env))),
    account: values.account,
    registrationKey: values['registration-key'] ?? (env.FLOTILLA_REGISTRATION_KEY || undefined),
    seed: read.whole('seed', 0, 2 ** 31),
    stateFile: values.state,
    executionLogFile: values['execution-log'],
    connections: read.whole('connections', 1, 10_000),
    auditRules: read.whole('audit-rules', 1, 5000),
    times: {
      pingMs: read.ms('ping-interval'),
      urgentMs: read.ms('urgent-interval'),
      exchangeMs: read.ms('exchange-interval'),
      operationMs: read.ms('operation-time'),
      retryMs: read.ms('retry-interval'),
    },
    shares: {
      offline: read.share('offline'),
      slow: read.share('slow'),
      failing: read.share('failing'),
      lostResponses: read.share('lost-responses'),
      duplicateSends: read.share('duplicate-sends'),
      dieBefore: read.share('die-before'),
      dieAfter: read.share('die-after'),
    },
  };
}

class OptionReader {
  readonly #values: Readonly<Partial<Record<Name, string | boolean>>>;

  constructor(values: Readonly<Partial<Record<Name, string | boolean>>>) {
    this.#values = values;
  }

  number(name: Name, min: number, max: number, fallback?: string): number | undefined {
    const text = this.#values[name] ?? fallback;
    if (text === undefined) return undefined;
    const value = /^\d+(\.\d+)?$/.test(String(text)) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw new UsageError(`--${name} must be a number from ${min} to ${max}`);
    return value;
  }

  whole(name: Name, min: number, max: number, fallback?: string): number | undefined {
    const value = this.number(name, min, max, fallback);
    if (value !== undefined && !Number.isInteger(value)) throw new UsageError(`--${name} must be a whole number`);
    return value;
  }

  ms(name: Name): number | undefined {
    const seconds = this.number(name, SHORTEST_SECONDS, LONGEST_SECONDS);
    return seconds === undefined ? undefined : seconds * 1000;
  }

  share(name: Name): number {
    return this.number(name, 0, 1) ?? 0;
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** The gateway of a stack with the same settings on this machine. */
function localUrl({ FLOTILLA_HOST: host, FLOTILLA_PORT: port }: Environment): string {
  return `http://${localHost(host?.trim() || '127.0.0.1')}:${port?.trim() || 8080}`;
}

function urlOf(text: string): string {
  const protocols = text.split(',').map((url) => (URL.canParse(url) ? new URL(url).protocol : ''));
  if (!['http:', 'https:'].includes(protocols[0]!) || new Set(protocols).size > 1)
    throw new UsageError('--url must be http URLs or https URLs, separated by commas');
  return text;
}
