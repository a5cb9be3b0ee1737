import { EventEmitter } from 'node:events';

/** The report of an operation often follows its delivery at once; both then take one wake-up or none. */
export const DELIVERY_WAIT_MS = 250;
/** Each wait keeps one of the slots for workflow tasks, which wake-ups need too. */
export const MOST_WAITING = 4;

/** Passes the notifications of reports to those in this process that wait for the report of a batch. */
export class ReportNotifications {
  readonly #reports = new EventEmitter();
  #waiting = 0;

  /** A report has come for each of these batches. */
  publish(batches: readonly number[]): void {
    for (const batch of batches) this.#reports.emit(String(batch));
  }

  /**
   * Resolves with the next report of a batch, from now on, and after `limitMs` without one, as when a notification is
   * lost; at once unless `isExpected`, or while {@link MOST_WAITING} others wait. @throws the error of `isExpected`
   */
  async wait(batch: number, limitMs: number, isExpected: () => Promise<boolean>): Promise<void> {
    if (this.#waiting >= MOST_WAITING) return;
    this.#waiting += 1;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#reports.on(String(batch), resolve);
    const timer = setTimeout(resolve, limitMs);
    try {
      if (await isExpected()) await promise;
    } finally {
      this.#waiting -= 1;
      clearTimeout(timer);
      this.#reports.off(String(batch), resolve);
    }
  }
}
