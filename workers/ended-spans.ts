import { type PastSpan, recordSpan } from '../src/process/tracing.ts';

/** Longer than a server takes to hand out the next task after it rejected one. */
const HOLD_MS = 2000;
/** A span takes a few hundred bytes. */
const MAX_HELD = 10_000;

interface Held {
  span: PastSpan;
  timer: NodeJS.Timeout;
}

/**
 * Holds the spans of ended workflows for a moment: the server rejects a completion that meets a signal, and the run's
 * next task reports its end again. The later span replaces the earlier; both have the same id.
 * @remarks Where another worker gets that task, both spans are recorded.
 */
export class EndedSpans {
  readonly #held = new Map<string, Held>();
  readonly #record: (span: PastSpan) => void;

  constructor(record: (span: PastSpan) => void = recordSpan) {
    this.#record = record;
  }

  /** @param runId - the run that ended */
  add(runId: string, span: PastSpan): void {
    clearTimeout(this.#held.get(runId)?.timer);
    this.#held.set(runId, { span, timer: setTimeout(() => this.#release(runId), HOLD_MS) });
    if (this.#held.size > MAX_HELD) this.#release(this.#held.keys().next().value!);
  }

  flush(): void {
    for (const runId of [...this.#held.keys()]) this.#release(runId);
  }

  #release(runId: string): void {
    const { span, timer } = this.#held.get(runId)!;
    clearTimeout(timer);
    this.#held.delete(runId);
    this.#record(span);
  }
}
