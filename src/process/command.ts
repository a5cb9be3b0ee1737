import { parseArgs } from 'node:util';
import { type Config, type ConfigRole, loadConfig } from './config.ts';
import { createLogger, type Logger } from './logger.ts';

export interface Command {
  name: string;
  /** Determines the required settings. */
  role: ConfigRole;
  help: string;
  flags?: readonly string[];
}

/**
 * Runs a command and exits: with 0 on success and after `--help`, with 1 and a message on failure. An unknown argument
 * fails before anything is done.
 * @param work - receives the given flags
 */
export async function runCommand(
  command: Command,
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

function readFlags({ flags = [] }: Command, args: string[]): ReadonlySet<string> {
  const options = Object.fromEntries([...flags, 'help'].map((flag) => [flag, { type: 'boolean' as const }]));
  return new Set(Object.keys(parseArgs({ args, options }).values));
}

/** A failed connection to a host with several addresses is an AggregateError without a message. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && !error.message) return error.errors.map(describe).join(', ');
  return error.message || error.name;
}
