import { type ScheduleHandle, ScheduleNotFoundError } from '@temporalio/client';
import type { ActivityRuntime } from '../activities/activity-runtime.ts';
import { until } from './workflow-environment.ts';

/** A moment on a whole second, so many seconds from now. */
export function inSeconds(seconds: number): Date {
  return new Date(Math.floor(Date.now() / 1000) * 1000 + seconds * 1000);
}

/** Looks at the schedules of one kind of profiles on the server. */
export function schedulesOf(runtime: () => ActivityRuntime, kind: 'usg' | 'script') {
  const handle = (id: number): ScheduleHandle => runtime().client.schedule.getHandle(`${kind}/${id}`);
  return {
    handle,
    /** Whether the profile has a schedule. */
    async exists(id: number): Promise<boolean> {
      try {
        await handle(id).describe();
        return true;
      } catch (error) {
        if (error instanceof ScheduleNotFoundError) return false;
        throw error;
      }
    },
    /** Waits until every ordered change of a schedule is made. */
    noOrders: () =>
      until(async () => (await runtime().db.query(`select 1 from outbox where kind = 'schedule_sync'`)).length === 0),
  };
}
