import type { Sinks } from '@temporalio/workflow';

/** Header of workflows and steps that carries the W3C trace context, as the SDKs of Temporal name it. */
export const TRACE_HEADER = '_tracer-data';

/** Span of a workflow that came to its end. */
export interface EndedWorkflow {
  /** Trace context that the workflow continues. */
  parent: string;
  spanId: string;
  startMs: number;
  endMs: number;
  failed: boolean;
}

/** Where workflows report their spans. */
export interface TraceSinks extends Sinks {
  tracing: { ended(span: EndedWorkflow): void };
}
