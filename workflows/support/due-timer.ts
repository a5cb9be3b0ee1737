import { CancellationScope, sleep, workflowInfo } from '@temporalio/workflow';

const MIN_WAIT_MS = 100;
const MAX_MIN_WAIT_MS = 60_000;
const AGE_SHARE = 1_000;

/**
 * One coalesced timer to the next moment that matters; none when nothing is due.
 *
 * A running timer that fires no later than asked is kept: firing early costs one look, replacing it two events each
 * time. The shortest wait grows with the age of the run, so that thousands of single deadlines become few looks.
 */
export class DueTimer {
  readonly #onDue: () => void;
  #running: { dueAt: number; scope: CancellationScope } | null = null;

  constructor(onDue: () => void) {
    this.#onDue = onDue;
  }

  /** Makes sure that `onDue` is called by `dueAt` (ms since the epoch), or never for null. */
  arm(dueAt: number | null): void {
    if (dueAt !== null && this.#running && this.#running.dueAt <= dueAt) return;
    this.#running?.scope.cancel();
    this.#running = null;
    if (dueAt === null) return;
    const scope = new CancellationScope({ cancellable: true });
    const running = { dueAt, scope };
    this.#running = running;
    scope
      .run(() => sleep(Math.max(dueAt - Date.now(), shortestWait()), { summary: 'next due moment' }))
      .then(() => {
        if (this.#running !== running) return;
        this.#running = null;
        this.#onDue();
      })
      .catch(() => undefined);
  }
}

function shortestWait(): number {
  const age = Date.now() - workflowInfo().runStartTime.getTime();
  return Math.min(Math.max(age / AGE_SHARE, MIN_WAIT_MS), MAX_MIN_WAIT_MS);
}
