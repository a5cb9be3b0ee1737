import { CancelledFailure, Context } from '@temporalio/activity';
import type { ActivityStatus } from '../../src/domain/activities/status.ts';
import type { ReportDeps } from '../../src/services/compliance/reports/generate.ts';
import { endReport, produceReport } from '../../src/services/compliance/reports/produce.ts';
import type {
  ReleasedActivities,
  ReportActivities,
  ReportCloseActivities,
} from '../../workflows/contracts/activities.ts';

const HEARTBEAT_MS = 2_000;

/** What workers of reports do, also under its 0.1.0 name; safe to repeat. */
export function createReportActivities(
  deps: ReportDeps,
): ReportActivities & Pick<ReleasedActivities, 'generateReport'> {
  const writeReport = async (activity: number): Promise<ActivityStatus> => {
    const context = Context.current();
    const beat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
    try {
      return await produceReport(deps, activity, () => {
        if (context.cancellationSignal.aborted) throw new CancelledFailure('canceled');
      });
    } finally {
      clearInterval(beat);
    }
  };
  return { writeReport: ({ activity }) => writeReport(activity), generateReport: writeReport };
}

/** What the worker of a report's workflow does, also under its 0.1.0 name; safe to repeat. */
export function createReportCloseActivities(
  deps: ReportDeps,
): ReportCloseActivities & Pick<ReleasedActivities, 'endReport'> {
  return {
    closeReport: ({ activity, status }) => endReport(deps, activity, status),
    endReport: (activity, status) => endReport(deps, activity, status),
  };
}
