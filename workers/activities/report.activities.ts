import { CancelledFailure, Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { FileStore } from '../../src/services/common/ports.ts';
import { endReport, produceReport, type ReportProducer } from '../../src/services/compliance/reports/produce.ts';
import type { CancelActivities, ReportActivities } from '../../workflows/contracts/activities.ts';
import { requestCancelOf } from './request-cancel.ts';

const HEARTBEAT_MS = 2_000;

/** The steps of `reportActivity`; each can be run again. */
export function createReportActivities(
  deps: ReportProducer & { client: Client; files: FileStore },
): ReportActivities & CancelActivities {
  return {
    async generateReport(id) {
      const context = Context.current();
      const beat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
      try {
        return await produceReport(deps, id, () => {
          if (context.cancellationSignal.aborted) throw new CancelledFailure('canceled');
        });
      } finally {
        clearInterval(beat);
      }
    },
    endReport: (id, status) => endReport(deps, id, status),
    requestCancel: requestCancelOf(deps.client),
  };
}
