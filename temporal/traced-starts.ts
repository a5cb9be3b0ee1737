import type { WorkflowClientInterceptor } from '@temporalio/client';
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry/lib/client/index.js';
import { currentTracer, isRecording } from '../src/process/tracing.ts';

/**
 * Passes the current trace to the workflows that a client starts.
 * @remarks Without one it adds nothing; signals are no part of a trace.
 */
export const TRACED_STARTS: WorkflowClientInterceptor = {
  startWithDetails(input, next) {
    if (!isRecording()) return next(input);
    return new OpenTelemetryWorkflowClientInterceptor({ tracer: currentTracer() }).startWithDetails(input, next);
  },
};
