import type { Info } from '@temporalio/activity';
import { OpenTelemetryActivityInboundInterceptor } from '@temporalio/interceptors-opentelemetry/lib/worker/index.js';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { currentLogFields, type LogFields, withLogFields } from '../../src/process/log-fields.ts';
import { currentTracer, describeSpan, isTracing } from '../../src/process/tracing.ts';
import { TRACE_HEADER } from '../../workflows/contracts/tracing.contract.ts';
import { toActivityFailure } from './activity-failures.ts';
import type { WorkerMetrics } from '../telemetry/metrics.ts';

/** Measures every Temporal activity and adds its subject to its log lines. */
export function stepInterceptors(measures: Pick<WorkerMetrics, 'activityEnded'>): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const startedAt = performance.now();
        let isDone = false;
        try {
          const result = await withLogFields(subjectOf(info, input.args), () => next(input));
          isDone = true;
          return result;
        } catch (error) {
          throw toActivityFailure(error);
        } finally {
          measures.activityEnded(info.activityType, isDone, (performance.now() - startedAt) / 1000);
        }
      },
    },
  });
}

/** Traces the Temporal activities of traced workflows, with their subjects. */
export const traceInterceptors: ActivityInterceptorsFactory = (context) => ({
  inbound: {
    execute(input, next) {
      if (!isTracing() || !(TRACE_HEADER in input.headers)) return next(input);
      const traced = new OpenTelemetryActivityInboundInterceptor(context, { tracer: currentTracer() });
      return traced.execute(input, (passed) => {
        describeSpan(attributesOf(currentLogFields() ?? {}));
        return next(passed);
      });
    },
  },
});

const SUBJECTS = { batch: 'laneId', group: 'activityId', activity: 'activityId' } as const;

function subjectOf(info: Info, [input]: readonly unknown[]): Record<string, string | number> {
  const workflowId = info.workflowExecution?.workflowId;
  const about: Record<string, string | number> = workflowId === undefined ? {} : { workflowId };
  for (const [key, id] of Object.entries(typeof input === 'object' && input !== null ? input : {})) {
    const subject = SUBJECTS[key as keyof typeof SUBJECTS];
    if (subject !== undefined && typeof id === 'number') about[subject] = id;
  }
  return about;
}

const ATTRIBUTES: Readonly<Record<string, string>> = {
  workflowId: 'flotilla.workflow_id',
  laneId: 'flotilla.lane_id',
  activityId: 'flotilla.activity_id',
};

function attributesOf(about: LogFields): LogFields {
  return Object.fromEntries(Object.entries(about).map(([key, value]) => [ATTRIBUTES[key] ?? key, value]));
}
