import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import {
  ContinueAsNew,
  isCancellation,
  proxySinks,
  type WorkflowExecuteInput,
  type WorkflowInterceptorsFactory,
  workflowInfo,
} from '@temporalio/workflow';
import { TRACE_HEADER, type TraceSinks } from './contracts/tracing.contract.ts';

/** A traced workflow: the context it continues and its own span, derived from its run. */
interface Traced {
  parent: string;
  spanId: string;
  headers: Headers;
}

/**
 * Propagates a workflow's trace to its activities and children, and reports its own span when it ends.
 * @remarks Without a trace every call passes through unchanged. Nothing here is a command, uses random numbers or
 * waits, so histories replay the same with and without it.
 * @see docs/architecture.md#tracing
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let traced: Traced | null = null;
  const handOn = <I extends { headers: Headers }>(input: I): I =>
    traced === null ? input : { ...input, headers: { ...input.headers, ...traced.headers } };
  return {
    inbound: [
      {
        execute(input, next) {
          traced = readTrace(input);
          return traced === null ? next(input) : report(traced, next(input));
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(handOn(input)),
        scheduleLocalActivity: (input, next) => next(handOn(input)),
        startChildWorkflowExecution: (input, next) => next(handOn(input)),
        continueAsNew: (input, next) => next(handOn(input)),
      },
    ],
  };
};

const SPAN_ID_LENGTH = 16;
const TRACEPARENT = /^00-([\da-f]{32})-[\da-f]{16}-([\da-f]{2})$/;

function readTrace({ headers }: WorkflowExecuteInput): Traced | null {
  const header = headers[TRACE_HEADER];
  if (!header) return null;
  const { traceparent } = defaultPayloadConverter.fromPayload<{ traceparent: string }>(header);
  const [, traceId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (!traceId) return null;
  // The last digits of a run id are random, and the same at every replay.
  const spanId = workflowInfo().runId.replaceAll('-', '').slice(-SPAN_ID_LENGTH);
  const own = { traceparent: `00-${traceId}-${spanId}-${flags}` };
  return { parent: traceparent, spanId, headers: { [TRACE_HEADER]: defaultPayloadConverter.toPayload(own) } };
}

async function report(traced: Traced, run: Promise<unknown>): Promise<unknown> {
  const { tracing } = proxySinks<TraceSinks>();
  const { parent, spanId } = traced;
  const ended = (failed: boolean): void =>
    tracing.ended({ parent, spanId, startMs: workflowInfo().runStartTime.getTime(), endMs: Date.now(), failed });
  try {
    const result = await run;
    ended(false);
    return result;
  } catch (error) {
    // A canceled workflow did what was requested.
    ended(!(error instanceof ContinueAsNew || isCancellation(error)));
    throw error;
  }
}
