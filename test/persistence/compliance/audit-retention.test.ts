import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lockUsgReport, type UsgReportKey } from '../../../src/persistence/compliance/usg-reports.sql.ts';
import type { Database, Sql } from '../../../src/persistence/database/sql.ts';
import { createLogger } from '../../../src/process/logger.ts';
import { createDatabaseFileStore } from '../../../src/services/common/files.ts';
import { purgeExpiredAudits } from '../../../src/services/compliance/audits/purge-expired-audits.ts';
import { produceReport } from '../../../src/services/compliance/reports/produce.ts';
import {
  createUsgReportsService,
  type UsgReportsService,
} from '../../../src/services/compliance/reports/usg-reports.service.ts';
import { TestClock } from '../../support/activities/activity-rows.ts';
import { aRule, createUsgWorld, insertAuditedRun, type UsgWorld } from '../../support/compliance/usg.ts';
import { createTestDatabase, type TestDatabase, untilBlocked } from '../../support/database/database.ts';

let database: TestDatabase;
let db: Database;
let usg: UsgWorld;
let reports: UsgReportsService;
const clock = new TestClock();
const logger = createLogger({ level: 'silent', role: 'test' });
const DAY_MS = 86_400_000;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
  usg = await createUsgWorld(db, clock, 12);
  reports = createUsgReportsService({ db, clock, files: createDatabaseFileStore(db) });
});
afterAll(() => database?.drop());

const daysAgo = (days: number) => new Date(clock.now().getTime() - days * DAY_MS);
const dayOf = (date: Date) => date.toISOString().slice(0, 10);
const keep = (days: number) =>
  db.query('update account set audit_retention_days = $2 where id = $1', [usg.caller.accountId, days]);

async function audited(profileId: number, days: number): Promise<number> {
  return insertAuditedRun(db, {
    accountId: usg.caller.accountId,
    profileId,
    startedAt: daysAgo(days),
    computers: new Map(usg.computers.map((computer) => [computer, 'pf'])),
    rules: [aRule('rule_1'), aRule('rule_2')],
  });
}

async function made(profileId: number, startDate: string, endDate: string | null = null): Promise<string> {
  const request = { profileId, startDate, endDate, detailed: true, traceparent: null };
  const response = await reports.request(usg.caller, request);
  if ('path' in response) return response.path;
  const deps = { db, clock, files: createDatabaseFileStore(db) };
  expect(await produceReport(deps, response.activity.id, () => undefined)).toBe('succeeded');
  return made(profileId, startDate, endDate);
}

const purge = (on: Database) => purgeExpiredAudits({ db: on, clock, logger, limits: { results: 5, objects: 2 } });

/** Purges until nothing is due. @returns how many calls it took */
async function purgeAll(): Promise<number> {
  for (let calls = 1; ; calls += 1) if (!(await purge(db)).more) return calls;
}

/** Whose locking statement started before their activities were there to be seen. */
function unaware(database: Database): Database {
  const SEES = /and not exists \(select from activity k where k\.id = u\.activity_id[^)]*\)(?=\s+order by)/;
  const blind = (tx: Sql): Sql => ({
    ...tx,
    query: (text, values, name) => tx.query(text.replace(SEES, ''), values, name),
  });
  return { ...database, transaction: (work) => database.transaction((tx) => work(blind(tx))) };
}

const isThere = (path: string) =>
  reports.open(usg.caller, path).then(
    () => true,
    () => false,
  );
const runsOf = (profileId: number) =>
  db.query('select id from usg_run where profile_id = $1 and activity_id is not null order by id', [profileId]);
const reportUri = async (profileId: number) => (await usg.profiles.get(usg.caller, profileId)).lastRun;

describe('retention of audits', () => {
  it('keeps everything when an account keeps it forever', async () => {
    const profile = await usg.create({ startDate: '2090-01-01' });
    await audited(profile, 3000);
    const path = await made(profile, dayOf(daysAgo(3000)));
    await keep(-1);
    await purgeAll();
    expect(await isThere(path)).toBe(true);
    expect(await runsOf(profile)).toHaveLength(1);
  });

  it('removes runs, results and reports that are older, in small steps, and nothing else', async () => {
    const profile = await usg.create({ startDate: '2090-01-01', tailoringFile: '<Tailoring/>', benchmark: null });
    const [, , young] = [await audited(profile, 40), await audited(profile, 31), await audited(profile, 29)];
    const paths = {
      old: await made(profile, dayOf(daysAgo(40))),
      both: await made(profile, dayOf(daysAgo(40)), dayOf(clock.now())),
      young: await made(profile, dayOf(daysAgo(29))),
    };
    const { tailoring_file_key: tailoring } = await usg.profiles.get(usg.caller, profile);
    await keep(30);
    expect(await purgeAll()).toBeGreaterThan(5);
    expect(await isThere(paths.old)).toBe(false);
    expect(await isThere(paths.both)).toBe(false);
    expect(await isThere(paths.young)).toBe(true);
    expect(await isThere(tailoring!)).toBe(true);
    expect(await runsOf(profile)).toEqual([{ id: young }]);
    const audits = await db.query('select distinct run_id from usg_audit where profile_id = $1', [profile]);
    expect(audits).toEqual([{ run_id: young }]);
    expect(await made(profile, dayOf(daysAgo(40)), dayOf(clock.now()))).toBe(paths.both);
    await keep(5);
    await purgeAll();
    expect(await reportUri(profile)).toBeNull();
    for (const path of Object.values(paths)) expect(await isThere(path)).toBe(false);
    await keep(-1);
  });

  it('leaves out of reports what is not kept any more before it is removed', async () => {
    const profile = await usg.create({ startDate: '2090-01-01' });
    await audited(profile, 40);
    const path = await made(profile, dayOf(daysAgo(40)));
    await keep(30);
    expect(await made(profile, dayOf(daysAgo(40)))).toBe(path);
    const file = await reports.open(usg.caller, path);
    let text = '';
    for await (const piece of file.chunks()) text += piece.toString();
    expect(text.split('\r\n')).toHaveLength(2);
    await keep(-1);
  });

  it('may remove a report while it is being requested again', async () => {
    const profile = await usg.create({ startDate: '2090-01-01' });
    const question = {
      account_id: usg.caller.accountId,
      profile_id: profile,
      path: `requested-${profile}`,
      range_start: daysAgo(40),
      range_end: daysAgo(39),
      detailed: false,
    };
    const before = await db.transaction((tx) => lockUsgReport(tx, question));
    const request = () => db.transaction((tx) => lockUsgReport(tx, question));
    const requested = await db.transaction(async (tx) => {
      await tx.query('delete from usg_report where id = $1', [before.id]);
      const waiting = request();
      await untilBlocked(db);
      return { waiting };
    });
    const after = await requested.waiting;
    expect(after).toEqual({ ...before, id: after.id });
    expect(after.id).not.toBe(before.id);
  });

  it('waits for a report that is being requested again', async () => {
    const profile = await usg.create({ startDate: '2090-01-01' });
    await audited(profile, 40);
    const path = await made(profile, dayOf(daysAgo(40)));
    const [key] = await db.query<UsgReportKey>('select * from usg_report where path = $1', [path]);
    const { removing } = await db.transaction(async (tx) => {
      await lockUsgReport(tx, key!);
      const removing = db.query('delete from usg_report where path = $1', [path]);
      await untilBlocked(db);
      return { removing };
    });
    await removing;
    expect(await db.query('select from usg_report where path = $1', [path])).toEqual([]);
  });

  it('keeps a report that was requested again between looking and locking', async () => {
    const profile = await usg.create({ startDate: '2090-01-01' });
    await audited(profile, 40);
    const path = await made(profile, dayOf(daysAgo(40)));
    const question = () =>
      db.query<{ activity_id: number }>('select activity_id from usg_report where path = $1', [path]);
    const [{ activity_id: activity }] = (await question()) as [{ activity_id: number }];
    await db.query('update activity set completion_time = null where id = $1', [activity]);
    await keep(30);
    await purge(unaware(db));
    expect(await question()).toHaveLength(1);
    await db.query('update activity set completion_time = now() where id = $1', [activity]);
    await purge(unaware(db));
    expect(await question()).toEqual([]);
    await keep(-1);
  });

  it('never makes a planned date count as missed', async () => {
    const profile = await usg.create({ startDate: clock.now().toISOString() });
    const [run] = await db.query<{ activity_id: number; nominal_time: Date }>(
      'select activity_id, nominal_time from usg_run where profile_id = $1',
      [profile],
    );
    const { activity_id: activity, nominal_time: nominal } = run!;
    await db.query('update usg_profile set planned_dates = $2 where id = $1', [profile, [nominal]]);
    clock.advance(10 * DAY_MS);
    await keep(5);
    await purgeAll();
    expect(await runsOf(profile)).toHaveLength(1);
    await db.query(`update activity set status = 'succeeded', open_count = 0 where id = $1`, [activity]);
    await purgeAll();
    expect(await runsOf(profile)).toEqual([]);
    expect(await usg.kind.datesDueBefore(clock.now(), { profileId: profile })).toEqual([]);
    await keep(-1);
  });

  it('removes what nobody can find, but not what is being written', async () => {
    const profile = await usg.create({ startDate: '2090-01-01' });
    const { accountId } = usg.caller;
    const files = createDatabaseFileStore(db);
    const [open] = await db.query<{ id: number }>(
      `insert into activity (account_id, type, summary, status) values ($1, 'GenerateUsgReportActivity', '', 'delivered')
       returning id`,
      [accountId],
    );
    for (const activityId of [null, open!.id]) {
      const draft = { accountId, kind: 'report' as const, profileId: profile, activityId, creationTime: clock.now() };
      await db.transaction(async (tx) => (await files.draft(tx, draft)).append(Buffer.from('x')));
    }
    const drafts = () =>
      db.query('select activity_id from stored_file where profile_id = $1 and key is null', [profile]);
    await purgeAll();
    expect(await drafts()).toHaveLength(2);
    clock.advance(2 * 3_600_000);
    await purgeAll();
    expect(await drafts()).toEqual([{ activity_id: open!.id }]);
  });
});
