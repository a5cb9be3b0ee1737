import type { Logger } from '../src/process/logger.ts';

const COMPLAIN_EVERY_MS = 30_000;

/**
 * Logs repeated failures, for example while a server is down: the first, then one per half minute, and the recovery.
 * @returns a function to call with every failure, and with null on success
 */
export function throttledErrorLog(logger: Logger, about: Record<string, string>): (error: unknown) => void {
  let complainedAt = 0;
  let failing = false;
  return (error) => {
    if (error === null) {
      if (failing) logger.info(about, 'works again');
      failing = false;
      complainedAt = 0;
      return;
    }
    failing = true;
    if (Date.now() - complainedAt < COMPLAIN_EVERY_MS) return;
    complainedAt = Date.now();
    logger.warn({ ...about, err: error }, 'failed, trying again');
  };
}
