import { ConfigError } from '../../../src/process/config.ts';
import { tidyAfterStart } from '../../../src/process/lifecycle.ts';
import { StackError } from '../stack-error.ts';

/** Something that starts, runs until it is stopped, and stops in order. */
export interface Supervised<Started> {
  start(): Promise<Started>;
  /** Rejects when it cannot go on; never resolves. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

export interface SuperviseOptions<Settings, Started> {
  title: string;
  /** @throws {ConfigError} {StackError} when it cannot start */
  settings(): Settings;
  create(settings: Settings): Supervised<Started>;
  /** Prints how to use it, in one write, so that a reader of the output sees all of it or nothing. */
  announce(started: Started, settings: Settings): Promise<void>;
  /** The process exits after this in any case. */
  stopLimitMs: number;
}

/** Runs it in this process until a signal ends it. Exit code 0 after a signal, 1 when it cannot run. */
export async function supervise<Settings, Started>(options: SuperviseOptions<Settings, Started>): Promise<void> {
  const { title } = options;
  let running: Supervised<Started> | null = null;
  let isStopping = false;

  async function end(code: number, message: string): Promise<void> {
    if (isStopping) return;
    isStopping = true;
    if (code === 0) print(`${title}: ${message}`);
    else process.stderr.write(`${title} cannot run: ${message}\n`);
    setTimeout(() => process.exit(1), options.stopLimitMs);
    try {
      await running?.stop();
      if (code === 0) print(`${title} has stopped`);
      process.exit(code);
    } catch (error) {
      process.stderr.write(`${title} could not stop in order: ${describe(error, false)}\n`);
      process.exit(1);
    }
  }

  // A closed terminal must not prevent the ordered stop.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(0, 'stopping'));
  process.on('uncaughtException', (error) => void end(1, `unexpected: ${describe(error, true)}`));
  process.on('unhandledRejection', (error) => void end(1, `unexpected: ${describe(error, true)}`));
  try {
    const settings = options.settings();
    running = options.create(settings);
    await options.announce(await running.start(), settings);
    tidyAfterStart();
    await running.failed;
  } catch (error) {
    if (isStopping) return;
    await end(1, describe(error, !(error instanceof StackError || error instanceof ConfigError)));
  }
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function describe(error: unknown, withStack: boolean): string {
  if (!(error instanceof Error)) return String(error);
  return withStack ? (error.stack ?? error.message) : error.message;
}
