import type { Sinks } from '@temporalio/workflow';

/** Header of workflows and activities with the W3C trace context, named as in the SDKs of Temporal. */
export const TRACE_HEADER = '_tracer-data';

/** Span of an ended workflow. */
export interface EndedWorkflow {
  /** Trace context that the workflow continues. */
  parent: string;
  spanId: string;
  startMs: number;
  endMs: number;
  failed: boolean;
}

/** Sinks for the spans of workflows. */
export interface TraceSinks extends Sinks {
  tracing: { ended(span: EndedWorkflow): void };
}
