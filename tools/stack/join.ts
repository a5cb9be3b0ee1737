import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../src/process/config.ts';
import { listenProblem } from './processes/ports.ts';
import { readStackState } from './processes/running-file.ts';
import { StackError } from './stack-error.ts';
import { localUrl, resolveDataDir } from './topology/roles.ts';

/** A process that joins a running stack. */
export type JoiningRole = 'api' | 'gateway' | 'worker' | 'fleet';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Joined {
  /** Settings of the stack to run with. */
  settings: Record<string, string>;
  args: string[];
  message: string;
}

/** Setting one of these means another stack, or none, unless the running stack has the same value. */
const OTHER_STACK_SETTINGS: readonly string[] = [
  'FLOTILLA_DATABASE_URL',
  'FLOTILLA_DATABASE_URL_FILE',
  'FLOTILLA_TEMPORAL_ADDRESS',
  'FLOTILLA_JWT_SECRET',
  'FLOTILLA_JWT_SECRET_FILE',
  'FLOTILLA_ENCRYPTION_KEYS',
  'FLOTILLA_ENCRYPTION_KEYS_FILE',
];
const PORTS_TRIED = 100;
const STARTING_LIMIT_MS = 300_000;
const LOOK_EVERY_MS = 200;

/**
 * Settings of the stack that runs on the data directory, for a process that joins it. Waits while that stack starts.
 * @param env - of the process; what is set there stays as it is
 * @param args - of the process
 * @param report - called when it has to wait
 * @returns null when the process has servers of its own, or simulated computers run without a stack
 * @throws {StackError} when no stack runs, or it belongs to another user
 */
export async function joinStack(
  role: JoiningRole,
  args: readonly string[],
  env: Environment,
  report: (message: string) => void,
): Promise<Joined | null> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));
  if (role === 'fleet' && hasUrl(args)) return null;
  const dataDir = resolveDataDir(loadConfig({ FLOTILLA_DATA_DIR: given['FLOTILLA_DATA_DIR'] }, 'stack'));
  const file = join(dataDir, 'running.json');
  if (role !== 'fleet' && refersToOtherStack(file, given)) return null;
  const running = await waitUntilRunning(file, () => report(`${role}: waits for the Flotilla in ${dataDir} to start`));
  if (running === null) {
    if (role === 'fleet') return null;
    throw new StackError(
      `No Flotilla runs in ${dataDir}: start it with npm start, or name PostgreSQL and Temporal with their secrets by ` +
        'FLOTILLA_DATABASE_URL, FLOTILLA_TEMPORAL_ADDRESS, FLOTILLA_JWT_SECRET and FLOTILLA_ENCRYPTION_KEYS.',
    );
  }
  const { supervisor, settings } = running;
  const where = `joins the Flotilla that runs in ${dataDir} (process ${supervisor})`;
  if (role === 'fleet') {
    if (refersToOtherGateway(given, settings)) return null;
    const key = { FLOTILLA_REGISTRATION_KEY: settings['FLOTILLA_REGISTRATION_KEY'] ?? '' };
    const taken = { ...key, ...given, FLOTILLA_PUBLIC_URL: urlOf(settings) };
    const more = seedArguments(args);
    return { settings: taken, args: more, message: [`fleet: ${where} at ${urlOf(settings)}`, ...more].join(' ') };
  }
  // Processes of the stack stop with it within seconds and make their build current; a joined one does neither.
  const taken = { ...settings, FLOTILLA_EMBEDDED: 'false', ...unlimited(settings), ...given };
  if (role === 'worker') return { settings: taken, args: [], message: `worker: ${where}` };
  // The stack's own port is taken, and still in the environment if the stack was started from this shell.
  const isOwn = given['FLOTILLA_PORT'] !== undefined && portOf(given) !== portOf(settings);
  const own = isOwn ? taken : { ...taken, FLOTILLA_PORT: String(await nextFreePort(settings)) };
  return { settings: own, args: [], message: `${role}: ${where}, and serves ${urlOf(own)}` };
}

function hasUrl(args: readonly string[]): boolean {
  return ['--url', '--help', '-h'].some((option) => hasOption(args, option));
}

function hasOption(args: readonly string[], option: string): boolean {
  return args.some((arg) => arg === option || arg.startsWith(`${option}=`));
}

/** The stack's computers have the default seed: using it again would make copies of them. */
function seedArguments(args: readonly string[]): string[] {
  return hasOption(args, '--seed') || hasOption(args, '--state') ? [] : ['--seed', String(randomInt(2, 2 ** 31))];
}

function refersToOtherStack(file: string, given: Environment): boolean {
  const own = OTHER_STACK_SETTINGS.filter((name) => given[name] !== undefined);
  if (own.length === 0) return false;
  const settings = settingsOfRunning(file);
  return settings === null || own.some((name) => given[name] !== settings[name]);
}

/** Null when no stack runs, or one of another user. */
function settingsOfRunning(file: string): Environment | null {
  try {
    const state = readStackState(file);
    return state.is === 'running' ? state.settings : null;
  } catch (error) {
    if (error instanceof StackError) return null;
    throw error;
  }
}

/** An explicit URL of another gateway wins over the running stack. */
function refersToOtherGateway(given: Environment, settings: Environment): boolean {
  const publicUrl = given['FLOTILLA_PUBLIC_URL'];
  if (publicUrl !== undefined) return publicUrl !== settings['FLOTILLA_PUBLIC_URL'];
  return urlOf({ ...settings, ...given }) !== urlOf(settings);
}

async function waitUntilRunning(file: string, onWait: () => void) {
  const end = performance.now() + STARTING_LIMIT_MS;
  for (let looks = 0; ; looks++) {
    const state = readStackState(file);
    if (state.is === 'running') return state;
    if (state.is === 'absent' || performance.now() > end) return null;
    if (looks === 5) onWait();
    await sleep(LOOK_EVERY_MS);
  }
}

/** The embedded stack has no rate limits unless they are set. */
function unlimited(settings: Environment): Record<string, string> {
  if (settings['FLOTILLA_EMBEDDED'] !== 'true') return {};
  const names = ['FLOTILLA_API_RATE_LIMIT', 'FLOTILLA_ENROLMENT_RATE_LIMIT'];
  return Object.fromEntries(names.filter((name) => !settings[name]?.trim()).map((name) => [name, '0']));
}

function urlOf(settings: Environment): string {
  return localUrl(
    loadConfig({ FLOTILLA_HOST: settings['FLOTILLA_HOST'], FLOTILLA_PORT: settings['FLOTILLA_PORT'] }, 'stack'),
  );
}

function portOf({ FLOTILLA_PORT }: Environment): number {
  return loadConfig({ FLOTILLA_PORT }, 'stack').port;
}

async function nextFreePort(settings: Environment): Promise<number> {
  const { host, port } = loadConfig(settings, 'stack');
  for (let next = port + 1; next <= port + PORTS_TRIED; next++) {
    if ((await listenProblem(host, next)) === null) return next;
  }
  return port + 1;
}
