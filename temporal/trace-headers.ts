import type { WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { activeTraceparent } from '../src/process/tracing.ts';
import { TRACE_HEADER } from '../workflows/contracts/tracing.contract.ts';

const SAMPLED = '-01';

/** Passes the current trace to the workflows that a client starts; without one nothing is added. */
export const TRACED_STARTS: WorkflowClientInterceptor = {
  startWithDetails(input, next) {
    const traceparent = activeTraceparent();
    if (!traceparent?.endsWith(SAMPLED)) return next(input);
    const headers = { ...input.headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload({ traceparent }) };
    return next({ ...input, headers });
  },
};

/** The trace that a workflow or activity was started with; null without one. */
export function readTraceHeader(headers: Headers): string | null {
  const header = headers[TRACE_HEADER];
  if (!header) return null;
  const { traceparent } = defaultPayloadConverter.fromPayload<{ traceparent?: unknown }>(header);
  return typeof traceparent === 'string' ? traceparent : null;
}
