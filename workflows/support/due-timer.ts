import { CancellationScope, sleep, workflowInfo } from '@temporalio/workflow';
import type { Overdue } from '../contracts/activity.contract.ts';

const MIN_WAIT_MS = 100;
const MAX_MIN_WAIT_MS = 60_000;
const AGE_SHARE = 1_000;

/**
 * One timer for the next due moment; one that fires too early is kept: a check costs less than two events. The wait
 * grows with the age of the run, and doubles while a passed moment stays due: the clock of the rows may be behind.
 */
export class DueTimer {
  readonly #onDue: () => void;
  #running: { dueAt: number; scope: CancellationScope } | null = null;
  #overdue: Overdue | null;

  constructor(onDue: () => void, overdue: Overdue | null = null) {
    this.#onDue = onDue;
    this.#overdue = overdue;
  }

  /** The moment for which it fired, for as long as that moment is requested again. */
  get overdue(): Overdue | null {
    return this.#overdue;
  }

  /** Ensures that `onDue` is called by `dueAt` (ms since the epoch), or never for null. */
  setDueTime(dueAt: number | null): void {
    if (dueAt !== null && this.#running && this.#running.dueAt <= dueAt) return;
    this.#running?.scope.cancel();
    this.#running = null;
    if (this.#overdue?.dueAt !== dueAt) this.#overdue = null;
    if (dueAt === null) return;
    const scope = new CancellationScope({ cancellable: true });
    const running = { dueAt, scope };
    this.#running = running;
    const waitMs = Math.max(dueAt - Date.now(), shortestWait(), this.#overdue?.waitMs ?? 0);
    scope
      .run(() => sleep(waitMs, { summary: 'next due moment' }))
      .then(() => {
        if (this.#running !== running) return;
        this.#running = null;
        this.#fired(dueAt);
      })
      .catch(() => undefined);
  }

  #fired(dueAt: number): void {
    const waitMs = this.#overdue ? Math.min(this.#overdue.waitMs * 2, MAX_MIN_WAIT_MS) : MIN_WAIT_MS;
    this.#overdue = { dueAt, waitMs };
    this.#onDue();
  }
}

function shortestWait(): number {
  const age = Date.now() - workflowInfo().runStartTime.getTime();
  return Math.min(Math.max(age / AGE_SHARE, MIN_WAIT_MS), MAX_MIN_WAIT_MS);
}
