import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDatabaseFileStore } from '../../../src/services/common/files.ts';
import { createUsgKind } from '../../../src/services/compliance/profiles/usg-runs.ts';
import { createEngine } from '../../../src/services/engine/engine.ts';
import type { RunDate } from '../../../src/services/schedules/profile-kind.ts';
import { testLogger } from '../../../tools/harness/test-log.ts';
import { addEvent, childrenOf, SETTINGS } from '../../support/activities/activity-rows.ts';
import { createUsgWorld, type UsgWorld } from '../../support/compliance/usg.ts';
import {
  createTestDatabase,
  dyingAfter,
  fingerprint,
  type TestDatabase,
  untilBlocked,
} from '../../support/database/database.ts';

const DUE = new Date(Date.UTC(2026, 10, 24, 2, 30));
const DAY_BEFORE = new Date(DUE.getTime() - 86_400_000);

let database: TestDatabase;
let world: UsgWorld;
let now = DAY_BEFORE;

beforeAll(async () => {
  database = await createTestDatabase();
  world = await createUsgWorld(database.persistence.db, { now: () => now }, 2);
});
afterAll(() => database?.drop());
beforeEach(() => {
  now = DAY_BEFORE;
});

async function profiles(count: number, over: Parameters<UsgWorld['create']>[0] | object = {}): Promise<RunDate[]> {
  const dates: RunDate[] = [];
  now = DAY_BEFORE;
  for (let n = 0; n < count; n++) {
    dates.push({ profileId: await world.create({ startDate: DUE.toISOString(), ...over }), scheduledTime: DUE });
  }
  now = DUE;
  return dates;
}

const kindOn = (db = database.persistence.db, files = createDatabaseFileStore(db)) =>
  createUsgKind({ db, files, settings: SETTINGS, logger: testLogger(), publicUrl: 'http://localhost:8080' });

async function runsOf(dates: readonly RunDate[]): Promise<number[]> {
  const counts: number[] = [];
  for (const { profileId } of dates) counts.push((await world.runs(profileId)).length);
  return counts;
}

describe('profiles due at one moment', () => {
  it('run together, and their computers get the messages before any workflow starts', async () => {
    const { db } = database.persistence;
    const dates = [...(await profiles(2, { mode: 'fix-audit' })), ...(await profiles(1, { allComputers: false }))];
    expect(await world.kind.datesDueBefore(now)).toEqual(dates);
    const starts = await world.kind.startRuns(dates, now);
    expect(starts.map(({ outcome }) => outcome)).toEqual(['started', 'started', 'started']);
    expect(await world.kind.datesDueBefore(now)).toEqual([]);
    const children = await childrenOf(db, starts[0]!.activity!);
    expect(children.map(({ status }) => status)).toEqual(['undelivered', 'waiting', 'undelivered', 'waiting']);
    const messages = await db.query('select state from agent_message where activity_id = any($1)', [
      children.map(({ id }) => id),
    ]);
    expect(messages).toEqual([{ state: 'queued' }, { state: 'queued' }]);
    const [empty] = await db.query('select status, completion_time from activity where id = $1', [starts[2]!.activity]);
    expect(empty).toEqual({ status: 'succeeded', completion_time: now });
    const audits = await db.query('select computer_id from usg_audit where profile_id = $1 order by computer_id', [
      dates[1]!.profileId,
    ]);
    expect(audits.map(({ computer_id }) => computer_id)).toEqual(world.computers);
    // The results come before the workflow.
    const engine = createEngine({ ...database.persistence, clock: { now: () => now }, settings: { expiryDays: 30 } });
    const { id, lane_id: batch } = children[0]!;
    await addEvent(db, { batch, activity: id, kind: 'result', ok: true, body: 'done', at: now });
    expect(await engine.processPendingEvents(batch, false)).toMatchObject({ open: 1, succeeded: 1 });
    await db.query('update activity set open_count = 0');
  });

  it('run once when two schedulers and the schedules themselves start them', async () => {
    const dates = await profiles(6);
    const starts = await Promise.all([
      world.kind.startRuns(dates, now),
      world.kind.startRuns(dates.toReversed(), now),
      ...dates.map(async ({ profileId }) => [await world.kind.startRun(profileId, DUE, now)]),
    ]);
    const outcomes = starts.flat().map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === 'started')).toHaveLength(6);
    expect(outcomes.filter((outcome) => outcome === 'known')).toHaveLength(12);
    expect(await runsOf(dates)).toEqual([1, 1, 1, 1, 1, 1]);
    await database.persistence.db.query('update activity set open_count = 0');
  });

  it('run once whichever statement the process dies after, with all their rows or none', async () => {
    const { db } = database.persistence;
    const dates = await profiles(2);
    const before = await fingerprint(db);
    let statements = 0;
    for (; ; statements++) {
      const dying = kindOn(dyingAfter(db, statements));
      const isDone = await dying.startRuns(dates, now).then(
        () => true,
        () => false,
      );
      if (isDone) break;
      expect(await fingerprint(db)).toBe(before);
    }
    expect(statements).toBeGreaterThan(5);
    expect(await runsOf(dates)).toEqual([1, 1]);
    await db.query('update activity set open_count = 0');
  });

  it('run without one that is archived or edited at the same moment', async () => {
    const { db } = database.persistence;
    const dates = await profiles(3);
    const edited = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const edits = db.transaction(async (tx) => {
      await tx.query(`update usg_profile set archived = true, planned_dates = '{}' where id = $1`, [
        dates[0]!.profileId,
      ]);
      await tx.query('update usg_profile set planned_dates = $2, modification_time = $3 where id = $1', [
        dates[1]!.profileId,
        [new Date(DUE.getTime() + 3_600_000)],
        now,
      ]);
      edited.resolve();
      await released.promise;
    });
    await edited.promise;
    const starting = world.kind.startRuns(dates, now);
    await untilBlocked(db);
    released.resolve();
    await edits;
    expect((await starting).map(({ outcome }) => outcome)).toEqual(['archived', 'not-planned', 'started']);
    expect(await runsOf(dates)).toEqual([0, 0, 1]);
    await db.query('update activity set open_count = 0');
  });

  it('run once by a clock that was stepped', async () => {
    const dates = await profiles(2);
    const early = await world.kind.startRuns(dates, new Date(DUE.getTime() - 61_000));
    expect(early.map(({ outcome }) => outcome)).toEqual(['not-planned', 'not-planned']);
    await world.kind.startRuns(dates, new Date(DUE.getTime() + 3_600_000));
    const again = await world.kind.startRuns(dates, DUE);
    expect(again.map(({ outcome }) => outcome)).toEqual(['known', 'known']);
    expect(await runsOf(dates)).toEqual([1, 1]);
    await database.persistence.db.query('update activity set open_count = 0');
  });

  it('leave out those whose computers all have an open run, with an event for each', async () => {
    const dates = await profiles(2);
    await world.kind.startRun(dates[0]!.profileId, DUE, now);
    now = new Date(DUE.getTime() + 7 * 86_400_000);
    const next = dates.map(({ profileId }) => ({ profileId, scheduledTime: now }));
    expect(await world.kind.datesDueBefore(now, { after: dates[0]!.profileId - 1 })).toEqual(next);
    expect((await world.kind.startRuns(next, now)).map(({ outcome }) => outcome)).toEqual(['busy', 'started']);
    const events = await database.persistence.db.query(
      `select entity_id from event where entity_type = 'UsgProfile' and message like 'Skipped a scheduled run%'`,
    );
    expect(events).toEqual([{ entity_id: dates[0]!.profileId }]);
    expect(await world.kind.datesDueBefore(now, { after: dates[0]!.profileId - 1 })).toEqual([]);
  });
});
