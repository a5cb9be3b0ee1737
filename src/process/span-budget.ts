/** An order for a hundred thousand computers is one trace. */
const MAX_SPANS_PER_TRACE = 500;
const MAX_TRACES = 10_000;

/** Bounds how many spans one part of one process adds to each trace. */
export class SpanBudget {
  readonly #spent = new Map<string, number>();

  /** Whether one more span may be recorded; counts it if so. */
  take(traceparent: string): boolean {
    const spent = this.#spent.get(traceparent) ?? 0;
    if (spent >= MAX_SPANS_PER_TRACE) return false;
    if (spent === 0 && this.#spent.size >= MAX_TRACES) this.#spent.delete(this.#spent.keys().next().value!);
    this.#spent.set(traceparent, spent + 1);
    return true;
  }
}
