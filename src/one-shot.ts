import { type Config, type ConfigRole, loadConfig } from './config.ts';
import { createLogger, type Logger } from './logger.ts';

/**
 * Runs a command that does one thing and ends: exit code 0 when it is done, 1 with one message when it is not.
 *
 * @param name - of the command, in its log lines
 * @param role - which settings it cannot do without
 */
export async function runOneShot(
  name: string,
  role: ConfigRole,
  work: (config: Config, logger: Logger) => Promise<void>,
): Promise<never> {
  try {
    const config = loadConfig(process.env, role);
    await work(config, createLogger({ level: config.logLevel, role: name }));
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${name}: ${describe(error)}\n`);
    process.exit(1);
  }
}

/** A refused connection to a name with several addresses is an error without a message of its own. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && !error.message) return error.errors.map(describe).join(', ');
  return error.message || error.name;
}
