import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DesiredSchedule, scheduleIdOf } from '../../../src/domain/schedules/profile-schedule.ts';
import { enqueueScheduleSync } from '../../../src/persistence/schedules/schedule-syncs.sql.ts';
import { systemClock } from '../../../src/services/common/ports.ts';
import type { ProfileKind } from '../../../src/services/schedules/profile-kind.ts';
import { testLogger } from '../../../tools/harness/test-log.ts';
import { scheduleCommandsPoll } from '../../../workers/dispatcher/schedule-commands.ts';
import { type ActivityRuntime, createActivityRuntime } from '../../support/activities/activity-runtime.ts';
import { schedulesOf } from '../../support/temporal/workflow-environment.ts';

let runtime: ActivityRuntime;

beforeAll(async () => {
  runtime = await createActivityRuntime();
});

afterAll(() => runtime?.close());

/** A profile that has no such day, or a day. */
function desired(profileId: number, day: number): DesiredSchedule {
  const calendar = { minutes: [0], hours: [4], daysOfMonth: [day], months: null, daysOfWeek: null };
  const times = { kind: 'calendars', calendars: [calendar], startAt: null } as const;
  return { kind: 'script', profileId, accountId: 1, times, summary: 'a profile', note: 'a profile' };
}

it('a schedule that the server rejects is counted and retried, and delays no other', async () => {
  const [rejected, good] = [41, 42];
  const kind: Pick<ProfileKind, 'name' | 'desiredSchedule' | 'datesDueBefore'> = {
    name: 'script',
    desiredSchedule: async (_sql, id) => desired(id, id === rejected ? 32 : 1),
    datesDueBefore: async () => [],
  };
  const counted: string[] = [];
  const round = scheduleCommandsPoll({
    db: runtime.db,
    client: runtime.client,
    kinds: new Map([['script', kind as ProfileKind]]),
    clock: systemClock,
    logger: testLogger(),
    count: (what) => counted.push(what),
  });
  for (const id of [rejected, good]) {
    await runtime.db.transaction((tx) => enqueueScheduleSync(tx, scheduleIdOf('script', id), systemClock.now()));
  }
  await round();
  expect(counted.toSorted()).toEqual(['refused', 'scheduled']);
  const { exists } = schedulesOf(() => runtime, 'script');
  expect([await exists(rejected), await exists(good)]).toEqual([false, true]);
  const left = await runtime.db.query(`select key from outbox where kind = 'schedule_sync'`);
  expect(left).toEqual([{ key: scheduleIdOf('script', rejected) }]);
});
