import { makeWorkflowExporter } from '@temporalio/interceptors-opentelemetry/lib/worker/index.js';
import type { OpenTelemetrySinks } from '@temporalio/interceptors-opentelemetry/lib/workflow/index.js';
import type { InjectedSinks } from '@temporalio/worker';
import { exportSpan, type ForeignSpan, isTracing } from '../../src/process/tracing.ts';

/** Longer than a server takes to hand out the next task after it rejected one. */
const HOLD_MS = 2000;
const MAX_HELD = 10_000;

interface Held {
  span: ForeignSpan;
  timer: NodeJS.Timeout;
}

type SpanProcessor = Parameters<typeof makeWorkflowExporter>[0];
/** As OpenTelemetry 1.x represents it, which the interceptors use. */
type WorkflowSpan = Parameters<SpanProcessor['onEnd']>[0];

/** For a moment: after a rejected completion, which met a signal, the next task reports the same spans again. */
export class WorkflowSpans {
  readonly #held = new Map<string, Held>();
  readonly #export: (span: ForeignSpan) => void;

  constructor(export_: (span: ForeignSpan) => void = exportSpan) {
    this.#export = export_;
  }

  sinks(): InjectedSinks<OpenTelemetrySinks> {
    const processor: SpanProcessor = {
      onStart: () => undefined,
      onEnd: (span) => {
        if (isTracing()) this.add(span);
      },
      forceFlush: async () => undefined,
      shutdown: async () => undefined,
    };
    // The exporter of this process adds its resource.
    return { exporter: makeWorkflowExporter(processor, undefined as never) };
  }

  /** Holds a span for a moment; one with the same id replaces it. */
  add(span: WorkflowSpan): void {
    const id = span.spanContext().spanId;
    clearTimeout(this.#held.get(id)?.timer);
    this.#held.set(id, { span: toForeign(span), timer: setTimeout(() => this.#release(id), HOLD_MS) });
    if (this.#held.size > MAX_HELD) this.#release(this.#held.keys().next().value!);
  }

  /** Exports all held spans at once. */
  flush(): void {
    for (const id of [...this.#held.keys()]) this.#release(id);
  }

  #release(id: string): void {
    const { span, timer } = this.#held.get(id)!;
    clearTimeout(timer);
    this.#held.delete(id);
    this.#export(span);
  }
}

/** Of its attributes, the SDK's description of the workflow, only the ids remain: others could hold user data. */
function toForeign({ parentSpanId, instrumentationLibrary, attributes, ...span }: WorkflowSpan): ForeignSpan {
  const { workflowId, runId } = attributes;
  return {
    ...span,
    attributes: { 'flotilla.workflow_id': workflowId, 'flotilla.run_id': runId },
    instrumentationScope: instrumentationLibrary,
    ...(parentSpanId && { parentSpanContext: { ...span.spanContext(), spanId: parentSpanId } }),
  };
}
