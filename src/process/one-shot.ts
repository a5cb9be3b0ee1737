import { parseArgs } from 'node:util';
import { type Config, type ConfigRole, loadConfig } from './config.ts';
import { createLogger, type Logger } from './logger.ts';

/** A command that does one thing and ends. */
export interface OneShot {
  /** In its log lines. */
  name: string;
  /** Which settings it cannot do without. */
  role: ConfigRole;
  /** What `--help` prints. */
  help: string;
  /** Options that it takes, without a value each. */
  flags?: readonly string[];
}

/**
 * Runs a command: exit code 0 when it is done or `--help` was asked for, 1 with one message when it is not. An argument
 * that it does not know ends it before anything is done.
 *
 * @param work - gets the flags that were given
 */
export async function runOneShot(
  command: OneShot,
  work: (config: Config, logger: Logger, flags: ReadonlySet<string>) => Promise<void>,
): Promise<never> {
  const { name, role, help } = command;
  try {
    const flags = readFlags(command, process.argv.slice(2));
    if (flags.has('help')) {
      process.stdout.write(`${help}\n`);
      process.exit(0);
    }
    const config = loadConfig(process.env, role);
    await work(config, createLogger({ level: config.logLevel, role: name }), flags);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${name}: ${describe(error)}\n`);
    process.exit(1);
  }
}

function readFlags({ flags = [] }: OneShot, args: string[]): ReadonlySet<string> {
  const options = Object.fromEntries([...flags, 'help'].map((flag) => [flag, { type: 'boolean' as const }]));
  return new Set(Object.keys(parseArgs({ args, options }).values));
}

/** A refused connection to a name with several addresses is an error without a message of its own. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && !error.message) return error.errors.map(describe).join(', ');
  return error.message || error.name;
}
