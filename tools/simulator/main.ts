import { notifyReady, shutDownOnSignal } from '../../src/process/lifecycle.ts';
import { createLogger, type Logger } from '../../src/process/logger.ts';
import { type CommandLine, HELP, parseCommandLine, UsageError } from './command-line.ts';
import { createFleet, type Fleet, type FleetOptions } from './fleet.ts';

const PROGRESS_MS = 5000;

function read(): CommandLine {
  try {
    return parseCommandLine(process.argv.slice(2), process.env);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\nTry npm run fleet -- --help`);
    return process.exit(1);
  }
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

async function run(options: Omit<FleetOptions, 'logger'>): Promise<void> {
  const logger = createLogger({ level: process.env['FLOTILLA_LOG_LEVEL']?.trim() || 'info', role: 'fleet' });
  const fleet = createFleet({ ...options, logger });
  shutDownOnSignal(logger, () => fleet.stop());
  notifyReady();
  await fleet.start();
  logger.info({ computers: options.computers, url: options.url }, 'fleet started');
  reportProgress(fleet, logger);
}

const command = read();
if (command === 'help') console.log(HELP);
else {
  await run(command).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  });
}
