import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { scriptOperation } from '../../../src/domain/scripts/script.ts';
import { linkReapplied, linkReverted } from '../../../src/persistence/activities/activity-repeats.sql.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { createLogger } from '../../../src/process/logger.ts';
import { createEngine, type Engine } from '../../../src/services/engine/engine.ts';
import { createRetentionActivities } from '../../../workers/activities/retention.activities.ts';
import type { RetentionCursor } from '../../../workflows/contracts/housekeeping.contract.ts';
import {
  aChain,
  addEvent,
  aGroup,
  aLoneOperation,
  anAccount,
  childrenOf,
  type TestAccount,
  TestClock,
} from '../../support/activities/activity-rows.ts';
import { createTestDatabase, dyingAfter, type TestDatabase } from '../../support/database/database.ts';
import { countActivities } from '../../../src/persistence/activities/activity-pages.sql.ts';

const DAY_MS = 86_400_000;
const logger = createLogger({ level: 'silent', role: 'test' });

let database: TestDatabase;
let db: Database;
let clock: TestClock;
let engine: Engine;
let account: TestAccount;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
});
afterAll(() => database?.drop());
beforeEach(async () => {
  for (const table of [...TABLES, 'usg_run', 'usg_profile']) await db.query(`delete from ${table}`);
  clock = new TestClock();
  engine = createEngine({ ...database.persistence, clock, settings: { expiryDays: 30 } });
  account = await anAccount(db, { computers: 3 });
});

const TABLES = ['activity', 'lane', 'agent_message', 'agent_inbox', 'operation_payload', 'package_change_result'];
async function counts(): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const table of TABLES) {
    const [row] = await db.query<{ n: number }>(`select count(*)::int as n from ${table}`);
    found[table] = row!.n;
  }
  return found;
}
const NOTHING = Object.fromEntries(TABLES.map((table) => [table, 0]));

async function group(plan: Parameters<typeof aGroup>[2] = {}): Promise<number> {
  return aGroup(db, account, { now: clock.now(), ...plan });
}
async function processBatches(): Promise<void> {
  for (const { id } of await db.query<{ id: number }>('select id from lane order by id'))
    await engine.processPendingEvents(id, false);
}
/** Everything of a group is done. */
async function finish(id: number, only: (place: number) => boolean = () => true): Promise<void> {
  await processBatches();
  for (const [place, child] of (await childrenOf(db, id)).entries()) {
    if (!only(place)) continue;
    await addEvent(db, { batch: child.lane_id, activity: child.id, kind: 'result', ok: true, at: clock.now() });
    await db.query(`update agent_message set state = 'acked' where activity_id = $1`, [child.id]);
    await processBatches();
  }
}
const days = (count: number) => clock.advance(count * DAY_MS);
const ids = async () =>
  (await db.query<{ id: number }>('select id from activity where parent_id is null order by id')).map(({ id }) => id);

async function run(keepDays: number, limits = { scan: 100, rows: 1000 }, on: Database = db) {
  const step = createRetentionActivities({ db: on, clock, logger, activityRetentionDays: keepDays, limits });
  let next: RetentionCursor | null = null;
  let steps = 0;
  let deletedCount = 0;
  do {
    const done = await step.purgeExpiredActivities({ after: next });
    deletedCount += done.deletedCount;
    next = done.next;
    steps += 1;
  } while (next !== null && steps < 100);
  return { deletedCount, steps };
}

describe('retention of activities', () => {
  it('removes groups and operations that ended long ago, with everything that is theirs', async () => {
    const old = await group({ operations: aChain(2) });
    await finish(old);
    await db.query(
      `insert into package_change_result select id, computer_id, '{}', '{}' from activity where parent_id = $1`,
      [old],
    );
    const { accountId, computers } = account;
    const single = await aLoneOperation(db, { accountId, computer: computers[0]!, now: clock.now() });
    await processBatches();
    const [row] = await db.query<{ lane_id: number }>('select lane_id from activity where id = $1', [single]);
    await addEvent(db, { batch: row!.lane_id, activity: single, kind: 'result', ok: false, at: clock.now() });
    await db.query(`update agent_message set state = 'acked'`);
    await processBatches();
    days(8);
    expect((await run(7)).deletedCount).toBe(8);
    expect(await counts()).toEqual(NOTHING);
  });

  it('keeps what has not ended, ended later, or may still get a result', async () => {
    const open = await group();
    await finish(open, (place) => place > 0);
    const later = await group({ computers: account.computers.slice(0, 1) });
    const sent = await group({ computers: account.computers.slice(1, 2) });
    await finish(sent);
    await db.query(
      `update agent_message set state = 'sent' where activity_id in (select id from activity where parent_id = $1)`,
      [sent],
    );
    const recent = await group({ computers: account.computers.slice(2) });
    await finish(recent);
    days(8);
    await finish(later);
    const [child] = await childrenOf(db, recent);
    await addEvent(db, { batch: child!.lane_id, activity: child!.id, kind: 'result', ok: true, at: clock.now() });
    const before = await counts();
    days(6);
    expect((await run(7)).deletedCount).toBe(0);
    expect(await counts()).toEqual({ ...before });
    expect(await ids()).toEqual([open, later, sent, recent]);
    days(2);
    await processBatches();
    expect((await run(7)).deletedCount).toBe(4);
    expect(await ids()).toEqual([open, sent]);
  });

  it('keeps everything without a retention time', async () => {
    await finish(await group());
    days(40_000);
    const before = await counts();
    expect(await run(-1)).toEqual({ deletedCount: 0, steps: 1 });
    expect(await counts()).toEqual(before);
  });

  it('leaves no reference to deleted rows', async () => {
    const first = await group();
    await finish(first);
    days(5);
    const repeat = await group({ reappliedFrom: first });
    await db.query(
      'update activity k set reapplied_from = o.id from activity o where k.parent_id = $1 and o.parent_id = $2 and o.computer_id = k.computer_id',
      [repeat, first],
    );
    await db.transaction((tx) => linkReapplied(tx, first, repeat));
    await finish(repeat);
    days(4);
    expect((await run(7)).deletedCount).toBe(4);
    const rows = await db.query('select reapplied_from, reapplied_by from activity');
    expect(rows).toHaveLength(4);
    for (const row of rows) expect(row).toEqual({ reapplied_from: null, reapplied_by: null });
  });

  it('keeps what undid an activity for as long as that is there, so that nothing can be undone twice', async () => {
    const first = await group();
    const revert = await group({ reverts: first });
    await db.query(
      'update activity k set reverts = o.id from activity o where k.parent_id = $1 and o.parent_id = $2 and o.computer_id = k.computer_id',
      [revert, first],
    );
    await db.transaction((tx) => linkReverted(tx, first, revert));
    await finish(revert);
    days(8);
    expect((await run(7)).deletedCount).toBe(0);
    await finish(first);
    days(8);
    await run(7);
    expect(await ids()).toEqual([revert]);
    expect(await db.query('select reverts from activity where reverts is not null')).toEqual([]);
    await run(7);
    expect(await ids()).toEqual([]);
  });

  it('keeps the latest run of a profile, and the lines of all', async () => {
    const runs = [await group(), await group(), await group()];
    for (const id of runs) await finish(id);
    await db.query(
      `insert into usg_profile (account_id, access_group_id, creator_id, name, title, all_computers, tags, benchmark, mode,
         schedule, start_date, planned_dates, restart_deliver_delay, restart_deliver_delay_window, creation_time, modification_time)
       values ($1, $2, 1, 'p', 'P', true, '{}', 'b', 'audit', 'FREQ=WEEKLY', now(), '{}', 0, 0, now(), now())`,
      [account.accountId, account.groupId],
    );
    for (const [day, activity] of [runs[0], runs[1], null].entries()) {
      await db.query(
        `insert into usg_run (account_id, profile_id, nominal_time, activity_id, started_at)
         select $1, p.id, $2, $3, $2 from usg_profile p`,
        [account.accountId, new Date(clock.now().getTime() + day * DAY_MS), activity],
      );
    }
    days(8);
    await run(7);
    expect(await ids()).toEqual([runs[1]]);
    const lines = await db.query<{ activity_id: number }>('select activity_id from usg_run order by started_at');
    expect(lines.map(({ activity_id }) => activity_id)).toEqual([runs[0], runs[1], null]);
  });

  it('removes the replaced files of a script with the last run that names them', async () => {
    const [script] = await db.query<{ id: number }>(
      `insert into script (account_id, access_group_id, title, time_limit, username, creator_id, created_at,
         last_editor_id, last_edited_at)
       values ($1, $2, 'script', 60, 'root', 1, now(), 1, now()) returning id`,
      [account.accountId, account.groupId],
    );
    const { id } = script!;
    await db.query(
      `insert into script_attachment (script_id, filename, content, size, current)
       select $1, 'file-' || n, ''::bytea, 0, n = 3 from generate_series(1, 3) n`,
      [id],
    );
    const files = () =>
      db.query<{ id: number; filename: string }>(
        'select id, filename from script_attachment where script_id = $1 order by filename',
        [id],
      );
    const [one, two, three] = await files();
    const runOf = async (...attachments: Awaited<ReturnType<typeof files>>) => {
      const body = { id, version: 1, title: 'script', interpreter: '/bin/sh', code: '', attachments };
      const operations = [scriptOperation(body, { username: 'root', timeLimit: 60, env: {} })];
      await finish(await group({ operations }));
    };
    await runOf(one!, two!, three!);
    days(5);
    await runOf(one!, three!);
    days(4);
    expect((await run(7)).deletedCount).toBe(4);
    expect(await files()).toEqual([one, three]);
    days(5);
    expect((await run(7)).deletedCount).toBe(4);
    expect(await files()).toEqual([three]);
  });

  it('goes in steps of bounded size, whole groups only, and on where it stopped', async () => {
    const groups: number[] = [];
    for (let made = 0; made < 5; made += 1) {
      groups.push(await group());
      await finish(groups[made]!);
      clock.advance(1000);
    }
    days(8);
    const step = createRetentionActivities({
      db,
      clock,
      logger,
      activityRetentionDays: 7,
      limits: { scan: 100, rows: 9 },
    });
    const first = await step.purgeExpiredActivities({ after: null });
    expect(first).toMatchObject({ deletedCount: 8, next: expect.objectContaining({ id: groups[1] }) });
    expect(await ids()).toEqual(groups.slice(2));
    const third = await step.purgeExpiredActivities({ after: first.next });
    expect([third.deletedCount, await ids()]).toEqual([8, groups.slice(4)]);
    expect(await step.purgeExpiredActivities({ after: third.next })).toMatchObject({ deletedCount: 4, next: null });
    expect(await counts()).toEqual(NOTHING);
  });

  it('takes a group of any size whole, and looks at few at a time', async () => {
    for (let made = 0; made < 4; made += 1) await finish(await group());
    days(8);
    expect(await run(7, { scan: 100, rows: 1 })).toEqual({ deletedCount: 16, steps: 4 });
    for (let made = 0; made < 4; made += 1) await finish(await group());
    expect(await run(7, { scan: 2, rows: 100 })).toEqual({ deletedCount: 0, steps: 1 });
    days(8);
    expect(await run(7, { scan: 2, rows: 100 })).toEqual({ deletedCount: 16, steps: 3 });
  });

  it('leaves all or nothing of a group when it is cut off anywhere, and the next run ends it', async () => {
    await finish(await group());
    days(8);
    const before = await counts();
    for (let statement = 0; statement < 12; statement += 1) {
      await run(7, undefined, dyingAfter(db, statement)).catch(() => undefined);
      const left = await counts();
      if (left['activity'] === 0) break;
      expect(left, `cut off at statement ${statement}`).toEqual(before);
    }
    await run(7);
    expect(await counts()).toEqual(NOTHING);
  });

  it('removes once when two run at once', async () => {
    for (let made = 0; made < 6; made += 1) await finish(await group());
    days(8);
    const both = await Promise.all([run(7, { scan: 3, rows: 10 }), run(7, { scan: 3, rows: 10 })]);
    expect(both[0].deletedCount + both[1].deletedCount).toBe(24);
    expect(await counts()).toEqual(NOTHING);
    expect(await countActivities(db, account.accountId, 'activities')).toBe(0);
    expect(await countActivities(db, account.accountId, 'parents')).toBe(0);
  });
});
