import { parseArgs } from 'node:util';
import { type Config, type ConfigRole, loadConfig } from './config.ts';
import { createLogger, type Logger } from './logger.ts';

export interface Command {
  name: string;
  role: ConfigRole;
  help: string;
  env: NodeJS.ProcessEnv;
  flags?: readonly string[];
  maxWords?: number;
}

/** Runs a command and exits: 0 on success and after `--help`, else 1 and a message. Rejects unknown arguments first. */
export async function runCommand(
  command: Command,
  work: (config: Config, logger: Logger, flags: ReadonlySet<string>, words: readonly string[]) => Promise<void>,
): Promise<never> {
  const { name, role, help, env } = command;
  try {
    const { flags, words } = readArguments(command, process.argv.slice(2));
    if (flags.has('help')) {
      process.stdout.write(`${help}\n`);
      process.exit(0);
    }
    const config = loadConfig(env, role);
    await work(config, createLogger({ level: config.logLevel, role: name }), flags, words);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${name}: ${describe(error)}\n`);
    process.exit(1);
  }
}

function readArguments({ flags = [], maxWords = 0 }: Command, args: string[]) {
  const options = Object.fromEntries([...flags, 'help'].map((flag) => [flag, { type: 'boolean' as const }]));
  const { values, positionals } = parseArgs({ args, options, allowPositionals: maxWords > 0 });
  const surplus = positionals[maxWords];
  if (surplus !== undefined) throw new Error(`Unexpected argument '${surplus}'`);
  return { flags: new Set(Object.keys(values)), words: positionals };
}

/** A failed connection to a host with several addresses is an AggregateError without a message. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && !error.message) return error.errors.map(describe).join(', ');
  return error.message || error.name;
}
