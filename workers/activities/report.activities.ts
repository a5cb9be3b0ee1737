import { CancelledFailure, Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { FileStore } from '../../src/services/common/ports.ts';
import type { ReportDeps } from '../../src/services/compliance/reports/generate.ts';
import { endReport, produceReport } from '../../src/services/compliance/reports/produce.ts';
import type { CancelActivities, ReleasedActivities, ReportActivities } from '../../workflows/contracts/activities.ts';
import { cancelRunWith } from '../../temporal/client/workflow-calls.ts';

const HEARTBEAT_MS = 2_000;

/** The Temporal activities of reports, also under their 0.1.0 names; each is safe to repeat. */
export function createReportActivities(
  deps: ReportDeps & { client: Client; files: FileStore },
): ReportActivities & CancelActivities & Pick<ReleasedActivities, 'generateReport' | 'endReport' | 'requestCancel'> {
  const activities: ReportActivities & CancelActivities = {
    async writeReport({ activity }) {
      const context = Context.current();
      const beat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
      try {
        return await produceReport(deps, activity, () => {
          if (context.cancellationSignal.aborted) throw new CancelledFailure('canceled');
        });
      } finally {
        clearInterval(beat);
      }
    },
    closeReport: ({ activity, status }) => endReport(deps, activity, status),
    cancelRun: cancelRunWith(deps.client),
  };
  return {
    ...activities,
    generateReport: (activity) => activities.writeReport({ activity }),
    endReport: (activity, status) => activities.closeReport({ activity, status }),
    requestCancel: (workflowId, runId) => activities.cancelRun({ workflowId, runId }),
  };
}
