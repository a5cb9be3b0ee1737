import { notifyReady, shutDownOnSignal } from '../../src/process/lifecycle.ts';
import { createLogger, type Logger } from '../../src/process/logger.ts';
import { HELP, parseCommandLine, UsageError } from './command-line.ts';
import { createFleet, type Fleet } from './fleet.ts';

const PROGRESS_MS = 5000;

/** `npm run fleet`: simulated computers, until a signal stops them. */
async function main(env: NodeJS.ProcessEnv, args: readonly string[]): Promise<void> {
  const command = parseCommandLine(args, env);
  if (command === 'help') return console.log(HELP);

  const logger = createLogger({ level: env['FLOTILLA_LOG_LEVEL']?.trim() || 'info', role: 'fleet' });
  const fleet = createFleet({ ...command, logger });

  shutDownOnSignal(logger, () => fleet.stop());
  notifyReady();
  await fleet.start();
  logger.info({ computers: command.computers, url: command.url }, 'fleet started');
  reportProgress(fleet, logger);
}

function reportProgress(fleet: Fleet, logger: Logger): void {
  const total = fleet.computers.length;
  let before = -1;
  const timer = setInterval(() => {
    const settled = fleet.computers.filter((computer) => computer.isSettled).length;
    if (settled !== before) logger.info({ settled, total, ...fleet.statistics }, 'fleet enrolling');
    before = settled;
    if (settled < total) return;
    logger.info({ total }, 'fleet enrolled');
    clearInterval(timer);
  }, PROGRESS_MS);
  timer.unref();
}

main(process.env, process.argv.slice(2)).catch((error: unknown) => {
  const message = error instanceof Error ? error.message : error;
  console.error(error instanceof UsageError ? `${message}\nTry npm run fleet -- --help` : message);
  process.exit(1);
});
