/** An activity of a hundred thousand computers is one trace. */
const MAX_SPANS_PER_TRACE = 500;
const MAX_TRACES = 10_000;

/** Limits the spans that one component adds to each trace. */
export class SpanLimit {
  readonly #counts = new Map<string, number>();

  /** Whether one more span may be recorded; counts it if so. */
  take(traceparent: string): boolean {
    const count = this.#counts.get(traceparent) ?? 0;
    if (count >= MAX_SPANS_PER_TRACE) return false;
    if (count === 0 && this.#counts.size >= MAX_TRACES) this.#counts.delete(this.#counts.keys().next().value!);
    this.#counts.set(traceparent, count + 1);
    return true;
  }
}
