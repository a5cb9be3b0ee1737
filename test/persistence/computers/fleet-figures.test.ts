import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { beginReportActivity, endReportActivity } from '../../../src/persistence/compliance/usg-reports.sql.ts';
import { readFleetFigures } from '../../../src/persistence/computers/fleet-figures.sql.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { createLogger } from '../../../src/process/logger.ts';
import { createDatabaseFileStore } from '../../../src/services/common/files.ts';
import { systemClock } from '../../../src/services/common/ports.ts';
import { createUsgReportsService } from '../../../src/services/compliance/reports/usg-reports.service.ts';
import { createEngine } from '../../../src/services/engine/engine.ts';
import { startFleetGauges } from '../../../workers/telemetry/fleet-gauges.ts';
import { aGroup, anAccount, childrenOf, computersIn, SETTINGS } from '../../support/activities/activity-rows.ts';
import { createUsgWorld } from '../../support/compliance/usg.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let db: Database;
let group: number;

const logger = createLogger({ level: 'silent', role: 'test' });

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
  const account = await anAccount(db, { computers: 30 });
  await computersIn(db, account, 2, { state: 'pending' });
  await computersIn(db, account, 1, { archived: true });
  const now = systemClock.now();
  group = await aGroup(db, account, { now });
  await aGroup(db, account, { now, computers: account.computers.slice(0, 1) });
  await db.query(
    `insert into computer_contact (computer_id, known_since) select unnest($1::int[]), now() - interval '1 hour'`,
    [account.computers.slice(0, 4)],
  );
});
afterAll(() => database.drop());

/** The activities of one report a day. */
async function requestedReports(days: readonly string[]): Promise<number[]> {
  const usg = await createUsgWorld(db, systemClock, 1);
  const reports = createUsgReportsService({ db, clock: systemClock, files: createDatabaseFileStore(db) });
  const profileId = await usg.create({ startDate: '2090-01-01' });
  const ids: number[] = [];
  for (const startDate of days) {
    const question = { profileId, startDate, endDate: null, detailed: true, traceparent: null };
    const response = await reports.request(usg.caller, question);
    if ('activity' in response) ids.push(response.activity.id);
  }
  return ids;
}

describe('figures of the fleet', () => {
  it('counts what waits, what is open and who is silent', async () => {
    const figures = await readFleetFigures(db);
    expect(figures).toMatchObject({
      outbox: { start: 2, cancel: 0, schedule_sync: 0 },
      inbox: 0,
      inboxOldestSeconds: 0,
      openBatches: 2,
      overdueBatches: 0,
      unopenedBatches: 0,
      openOperations: [31, 0, 0, 0, 0, 0, 0],
      messages: { queued: 0, sent: 0 },
      computers: { approved: 30, pending: 2, archived: 1 },
      offline: 4,
    });
  });

  it('shows the age of the oldest outbox command, of open operations and of batches that nobody opened', async () => {
    await db.query(`update outbox set creation_time = now() - interval '90 seconds' where key = $1`, [String(group)]);
    await db.query(`update lane set created_at = now() - interval '2 hours' where parent_id = $1`, [group]);
    const figures = await readFleetFigures(db);
    expect(figures.outboxOldestSeconds).toBeGreaterThanOrEqual(90);
    expect(figures.openOperations).toEqual([1, 0, 0, 30, 0, 0, 0]);
    expect(figures.unopenedBatches).toBe(1);
  });

  it('shows messages once batches are open, and the engine reports how many events it applied', async () => {
    const processed: Array<[number, boolean]> = [];
    const onProcessed = (events: number, closed: boolean): void => void processed.push([events, closed]);
    const engine = createEngine({
      ...database.persistence,
      clock: systemClock,
      settings: SETTINGS,
      onProcessed: onProcessed,
    });
    const [plan] = await engine.listOpenBatches(group);
    await engine.processPendingEvents(plan!.batch, false);
    expect((await readFleetFigures(db)).messages.queued).toBe(30);
    const ids = (await childrenOf(db, group)).map(({ id }) => id);
    await db.query(
      `insert into agent_inbox (lane_id, activity_id, kind, ok, at)
       select $1, id, 'result', true, now() - interval '40 seconds' from unnest($2::int[]) id`,
      [plan!.batch, ids],
    );
    const before = await readFleetFigures(db);
    expect(before.inbox).toBe(30);
    expect(before.inboxOldestSeconds).toBeGreaterThanOrEqual(40);
    await engine.processPendingEvents(plan!.batch, false);
    expect(processed).toEqual([
      [0, false],
      [30, true],
    ]);
    expect(await readFleetFigures(db)).toMatchObject({ inbox: 0, openBatches: 1 });
  });

  it('counts reports that have not ended, and shows the age of the oldest, by whether a worker has started it', async () => {
    const none = { waiting: 0, begun: 0 };
    expect(await readFleetFigures(db)).toMatchObject({ reports: none, reportsOldestSeconds: none });
    const [ended, begun, old, young] = await requestedReports(['2026-05-01', '2026-05-02', '2026-05-03', '2026-05-04']);
    const now = systemClock.now();
    await endReportActivity(db, ended!, { status: 'canceled', text: null, now });
    await beginReportActivity(db, begun!, now);
    await db.query(
      `update activity set creation_time = now() - make_interval(secs => case when id = $2 then 90 else 400 end)
       where id = any($1)`,
      [[ended, begun, old], begun],
    );
    const { reports, reportsOldestSeconds: oldest } = await readFleetFigures(db);
    expect(reports).toEqual({ waiting: 2, begun: 1 });
    expect(oldest.waiting).toBeGreaterThanOrEqual(400);
    expect(oldest.begun).toBeGreaterThanOrEqual(90);
    expect(oldest.begun).toBeLessThan(400);
    for (const id of [begun, old, young]) await endReportActivity(db, id!, { status: 'failed', text: null, now });
    expect(await readFleetFigures(db)).toMatchObject({ reports: none, reportsOldestSeconds: none });
  });
});

describe('gauges of the fleet', () => {
  it('are shown by the leader alone, and no longer when another leads', async () => {
    const registry = new Registry();
    let leads = false;
    const isLeader = vi.fn(() => leads);
    const gauges = startFleetGauges({ db, registry, logger, isLeader, everyMs: 20 });
    await expect.poll(() => isLeader.mock.calls.length).toBeGreaterThan(2);
    expect(await registry.metrics()).not.toContain('flotilla_');
    leads = true;
    await expect.poll(() => registry.metrics(), { timeout: 20_000 }).toContain('flotilla_computers{state="pending"} 2');
    expect(await registry.metrics()).toContain('flotilla_operations_open{age="1m"} 1');
    expect(await registry.metrics()).toContain('flotilla_reports_oldest_seconds{state="waiting"} 0');
    leads = false;
    await expect.poll(() => registry.metrics(), { timeout: 20_000 }).not.toContain('flotilla_');
    await gauges.stop();
  });
});
