import { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { cancelRunWith } from '../../../workers/activities/request-cancel.ts';
import type { CancelActivities, ReportActivities } from '../../../workflows/contracts/activities.ts';

/** Steps of `reportActivity` without a database. */
export class FakeReports {
  /** How the next report goes. */
  outcome: 'succeeded' | 'fails' | 'never ends' | 'canceled meanwhile' = 'succeeded';
  /** Reports that were started. */
  begun = 0;
  /** How reports ended without a file. */
  readonly ends: string[] = [];

  activities(client: Client): ReportActivities & CancelActivities {
    return {
      writeReport: async () => {
        this.begun += 1;
        if (this.outcome === 'fails') throw ApplicationFailure.nonRetryable('no room');
        if (this.outcome === 'canceled meanwhile') return 'canceled';
        if (this.outcome === 'never ends') await beatUntilCancelled();
        return 'succeeded';
      },
      closeReport: async ({ status }) => {
        this.ends.push(status);
        return status;
      },
      cancelRun: cancelRunWith(client),
    };
  }
}

async function beatUntilCancelled(): Promise<void> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), 500);
  await context.cancelled.finally(() => clearInterval(beat));
}
