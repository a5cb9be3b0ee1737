import type { Logger } from '../../src/process/logger.ts';

const LOG_EVERY_MS = 30_000;

/** The first failure, then one per half minute, and the recovery. Call the result also on success, with null. */
export function throttledErrorLog(logger: Logger, about: Record<string, string>): (error: unknown) => void {
  let loggedAt = 0;
  let failing = false;
  return (error) => {
    if (error === null) {
      if (failing) logger.info(about, 'works again');
      failing = false;
      loggedAt = 0;
      return;
    }
    failing = true;
    if (Date.now() - loggedAt < LOG_EVERY_MS) return;
    loggedAt = Date.now();
    logger.warn({ ...about, err: error }, 'failed, trying again');
  };
}
