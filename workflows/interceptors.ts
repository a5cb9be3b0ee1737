import type {
  OpenTelemetryInboundInterceptor,
  OpenTelemetryOutboundInterceptor,
} from '@temporalio/interceptors-opentelemetry/lib/workflow/index.js';
import {
  isCancellation,
  type Next,
  type WorkflowExecuteInput,
  type WorkflowInterceptorsFactory,
} from '@temporalio/workflow';
import { TRACE_HEADER } from './contracts/tracing.contract.ts';

type Library = typeof import('@temporalio/interceptors-opentelemetry/lib/workflow/index.js');

/** Traces workflows with a trace context; others do not load the library. @see docs/architecture.md#tracing */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let library: Library | null = null;
  let traced: OpenTelemetryOutboundInterceptor | null = null;
  return {
    inbound: [
      {
        execute(input, next) {
          if (!(TRACE_HEADER in input.headers)) return next(input);
          library = loadLibrary();
          traced = new library.OpenTelemetryOutboundInterceptor();
          return execute(new library.OpenTelemetryInboundInterceptor(), input, next);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => traced?.scheduleActivity(input, next) ?? next(input),
        scheduleLocalActivity: (input, next) => traced?.scheduleLocalActivity(input, next) ?? next(input),
        startChildWorkflowExecution: (input, next) => traced?.startChildWorkflowExecution(input, next) ?? next(input),
        continueAsNew: (input, next) => traced?.continueAsNew(input, next) ?? next(input),
      },
    ],
    internals: [
      {
        dispose(input, next) {
          if (library === null) next(input);
          else new library.OpenTelemetryInternalsInterceptor().dispose(input, next);
        },
      },
    ],
  };
};

/** A canceled workflow did what was requested: its span does not see the cancellation. */
async function execute(
  traced: OpenTelemetryInboundInterceptor,
  input: WorkflowExecuteInput,
  next: Next<OpenTelemetryInboundInterceptor, 'execute'>,
): Promise<unknown> {
  let cancellation: unknown = null;
  const result = await traced.execute(input, (passed) =>
    next(passed).catch((error: unknown) => {
      if (!isCancellation(error)) throw error;
      cancellation = error;
    }),
  );
  if (cancellation !== null) throw cancellation;
  return result;
}

/** Evaluated for each traced workflow, which takes milliseconds; that is why it is no static import. */
function loadLibrary(): Library {
  // biome-ignore lint/style/noRestrictedGlobals: webpack replaces it
  return require('@temporalio/interceptors-opentelemetry/lib/workflow/index.js') as Library;
}
