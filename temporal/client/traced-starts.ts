import type { WorkflowClientInterceptor } from '@temporalio/client';
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry/lib/client/index.js';
import { currentTracer, isRecording } from '../../src/process/tracing.ts';

/** Passes the current trace, if any, to the workflows that a client starts. */
export const TRACED_STARTS: WorkflowClientInterceptor = {
  startWithDetails(input, next) {
    if (!isRecording()) return next(input);
    return new OpenTelemetryWorkflowClientInterceptor({ tracer: currentTracer() }).startWithDetails(input, next);
  },
};
