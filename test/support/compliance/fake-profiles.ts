import type { ProfileActivities } from '../../../workflows/contracts/activities.ts';

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
