import { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { cancelRunWith } from '../../../workers/workflow-calls.ts';
import type { CancelActivities, ProfileActivities, ReportActivities } from '../../../workflows/contracts/activities.ts';

/** The kinds of profiles in memory: at most one run per date, with the database taken away on demand. */
export class FakeProfiles {
  readonly calls: string[] = [];
  /** Dates that have a run, by profile. */
  readonly runs = new Set<string>();
  /** So many calls fail from now on. */
  failures = 0;

  /** As a worker registers them. */
  activities(): ProfileActivities {
    const step = async <T>(name: string, work: () => T): Promise<T> => {
      this.calls.push(name);
      if (this.failures > 0) {
        this.failures -= 1;
        throw Object.assign(new Error('connection refused'), { stack: 'connection refused' });
      }
      return work();
    };
    return {
      startRun: ({ kind, profileId, scheduledTime }) =>
        step('startRun', () => {
          const run = `${kind}/${profileId} ${scheduledTime}`;
          if (this.runs.has(run)) return { outcome: 'known' };
          this.runs.add(run);
          return { outcome: 'started', activity: this.runs.size };
        }),
      extendSchedule: () => step('extendSchedule', () => ({ planned: [] })),
    };
  }
}

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
