import { type PastSpan, recordSpan } from '../src/process/tracing.ts';

/** More than a server takes to hand out the task after one that it refused. */
const HOLD_MS = 2000;
/** Some hundred bytes each. */
const MAX_HELD = 10_000;

interface Held {
  span: PastSpan;
  timer: NodeJS.Timeout;
}

/**
 * Keeps the spans of workflows that ended back for a moment: the server refuses an end that meets a signal, and the next
 * task of the run tells of its end once more. The later span replaces the earlier; both have the same id.
 * @remarks Where another worker gets that task, both spans are recorded.
 */
export class EndedSpans {
  readonly #held = new Map<string, Held>();
  readonly #record: (span: PastSpan) => void;

  constructor(record: (span: PastSpan) => void = recordSpan) {
    this.#record = record;
  }

  /** @param runId - of the run whose end the span tells */
  add(runId: string, span: PastSpan): void {
    clearTimeout(this.#held.get(runId)?.timer);
    this.#held.set(runId, { span, timer: setTimeout(() => this.#release(runId), HOLD_MS) });
    if (this.#held.size > MAX_HELD) this.#release(this.#held.keys().next().value!);
  }

  /** Records all that is held. */
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
