import type { Info } from '@temporalio/activity';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import { withLogFields } from '../src/process/log-fields.ts';
import { inSpan, isTracing, SpanKind } from '../src/process/tracing.ts';
import { readTraceHeader } from '../temporal/trace-headers.ts';
import type { TraceSinks } from '../workflows/contracts/tracing.contract.ts';
import { toActivityFailure } from './activity-failures.ts';
import type { EndedSpans } from './ended-spans.ts';
import type { WorkerMetrics } from './metrics.ts';

/** Measures every Temporal activity, adds its subject to its log lines, and traces it if its workflow is traced. */
export function stepInterceptors(measures: Pick<WorkerMetrics, 'activityEnded'>): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const startedAt = performance.now();
        let isDone = false;
        try {
          const about = subjectOf(info, input.args);
          const parent = isTracing() ? readTraceHeader(input.headers) : null;
          const run = () => next(input);
          const result = await withLogFields(about, () =>
            parent === null
              ? run()
              : inSpan(info.activityType, { kind: SpanKind.CONSUMER, parent, attributes: attributesOf(about) }, run),
          );
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

/** Records the ends that workflows report; does nothing when tracing is off. */
export function traceSinks(spans: Pick<EndedSpans, 'add'>): InjectedSinks<TraceSinks> {
  return {
    tracing: {
      ended: {
        fn({ workflowType, workflowId, runId }, { parent, spanId, startMs, endMs, failed }) {
          if (!isTracing()) return;
          const attributes = { 'flotilla.workflow_id': workflowId, 'flotilla.run_id': runId };
          spans.add(runId, { name: `workflow ${workflowType}`, parent, spanId, startMs, endMs, failed, attributes });
        },
      },
    },
  };
}

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

function attributesOf(about: Record<string, string | number>): Record<string, string | number> {
  return Object.fromEntries(Object.entries(about).map(([key, value]) => [ATTRIBUTES[key] ?? key, value]));
}
