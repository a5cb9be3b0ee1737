import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RuleResult } from '../../../src/domain/compliance/audit-report.ts';
import type { UsgMode } from '../../../src/domain/compliance/profile.ts';
import { recordAuditProgress } from '../../../src/persistence/compliance/usg-audits.sql.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { failUnreported, ingestReports } from '../../../src/services/compliance/audits/ingest.ts';
import { readAuditReport } from '../../../src/services/compliance/audits/read-report.ts';
import { createEngine, type Engine } from '../../../src/services/engine/engine.ts';
import { TestClock } from '../../support/activities/activity-rows.ts';
import { anAuditedRun, auditReport } from '../../support/compliance/usg.ts';
import { createTestDatabase, type TestDatabase, untilBlocked } from '../../support/database/database.ts';

let database: TestDatabase;
let db: Database;
let engine: Engine;
const clock = new TestClock();
const MINUTE = 60_000;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
  engine = createEngine({ ...database.persistence, clock, settings: { expiryDays: 30 } });
});
afterAll(() => database.drop());

const read = async (report: Uint8Array) => readAuditReport(report);
const ingest = () => ingestReports({ db, clock, read });

const aRun = (mode: UsgMode, computers: number) => anAuditedRun({ db, engine: engine, clock }, mode, computers);

const counts = (not_started: number, in_progress: number, passing: number, failing: number, open: boolean) => ({
  not_started,
  in_progress,
  passing,
  failing,
  open,
});

describe('an audit', () => {
  it('goes from not started over in progress to the result of its report', async () => {
    const run = await aRun('audit', 3);
    expect(await run.results()).toEqual(counts(3, 0, 0, 0, true));
    await run.notify(0, 0, 'delivered');
    expect(await run.results()).toEqual(counts(2, 1, 0, 0, true));
    await run.notify(0, 0, 'result');
    await run.notify(1, 0, 'result');
    await run.notify(2, 0, 'result', false);
    expect(await run.results()).toEqual(counts(0, 2, 0, 1, true));
    await run.report(0, auditReport(['pass', 'fixed', 'notapplicable']));
    await run.report(1, auditReport(['pass', 'error', 'unknown']));
    expect(await ingest()).toBe(false);
    expect(await run.results()).toEqual(counts(0, 0, 1, 2, false));
    expect(await run.audits()).toEqual([
      { state: 'pass', reason: null, passed_count: 2, failed_count: 0 },
      { state: 'fail', reason: null, passed_count: 1, failed_count: 2 },
      { state: 'fail', reason: null, passed_count: 0, failed_count: 0 },
    ]);
    expect(await db.query('select * from usg_audit_report')).toEqual([]);
  });

  it('has the last word by its report, whether that comes before or after the pending events of its result', async () => {
    const run = await aRun('audit', 2);
    await run.report(0, auditReport(['pass']));
    await ingest();
    expect(await run.results()).toEqual(counts(1, 0, 1, 0, true));
    await run.notify(0, 0, 'delivered');
    await run.notify(0, 0, 'result');
    await run.notify(1, 0, 'delivered');
    await run.notify(1, 0, 'cancel');
    expect(await run.results()).toEqual(counts(1, 0, 1, 0, false));
    await run.notify(1, 0, 'result');
    await run.report(1, auditReport(['pass']));
    await ingest();
    expect(await run.results()).toEqual(counts(0, 0, 2, 0, false));
  });

  it('fails by a report that cannot be stored, which holds up no other', async () => {
    const run = await aRun('audit', 3);
    const readIll = async (report: Uint8Array) => {
      const reading = readAuditReport(report);
      if (!Buffer.from(report).includes('ill') || !('rules' in reading)) return reading;
      return { ...reading, rules: reading.rules.map((rule) => ({ ...rule, title: 'half a character: \ud83d' })) };
    };
    await run.report(0, auditReport(['pass']));
    await run.report(1, auditReport(['pass'], { before: '<!-- ill -->' }));
    await run.report(2, auditReport(['fail']));
    for (let turn = 0; await ingestReports({ db, clock, read: readIll }); turn++) expect(turn).toBeLessThan(10);
    expect(await run.audits()).toMatchObject([
      { state: 'pass', reason: null },
      { state: 'fail', reason: expect.stringContaining('cannot be stored') },
      { state: 'fail', reason: null },
    ]);
    expect(await db.query('select * from usg_audit_report')).toEqual([]);
  });

  it('waits where reports cannot be read just now', async () => {
    const run = await aRun('audit', 1);
    await run.report(0, auditReport(['pass']));
    const away = () => Promise.reject(new Error('the thread ended'));
    await expect(ingestReports({ db, clock, read: away })).rejects.toThrow('the thread ended');
    expect(await db.query('select from usg_audit_report')).toHaveLength(1);
    await ingest();
    expect(await run.audits()).toMatchObject([{ state: 'pass' }]);
  });

  it('counts by its report when that is taken in while its result is', async () => {
    const run = await aRun('audit', 1);
    await run.notify(0, 0, 'delivered');
    await run.report(0, auditReport(['pass']));
    const [step] = await run.steps(0);
    const [audit] = await db.query<{ run_id: number }>('select run_id from usg_audit where computer_id = $1', [
      run.computers[0],
    ]);
    const done = { from: 'delivered', to: 'succeeded', ids: [step!.id] };
    const taking = await db.transaction(async (tx) => {
      await recordAuditProgress(tx, audit!.run_id, [done], clock.now());
      const taken = ingest();
      await untilBlocked(db);
      return { taken };
    });
    await taking.taken;
    expect((await run.audits())[0]).toMatchObject({ state: 'pass', passed_count: 1 });

    await run.notify(0, 0, 'result');
    expect(await run.results()).toEqual(counts(0, 0, 1, 0, false));
  });

  it('that was canceled before anything reached the computer has not started', async () => {
    const run = await aRun('fix-audit', 1);
    await run.notify(0, 0, 'cancel');
    expect(await run.results()).toEqual(counts(1, 0, 0, 0, false));
  });

  it('that was canceled after its delivery neither passes nor fails, and is not in progress', async () => {
    const run = await aRun('audit', 2);
    await run.notify(0, 0, 'delivered');
    await run.notify(1, 0, 'delivered');
    expect(await run.results()).toEqual(counts(0, 2, 0, 0, true));
    await run.notify(0, 0, 'cancel');
    expect(await run.results()).toEqual(counts(1, 1, 0, 0, true));
    await run.notify(1, 0, 'cancel');
    expect(await run.results()).toEqual(counts(2, 0, 0, 0, false));
  });

  it('XML-wrong: fails with a reason in its result, in whatever order report and result come', async () => {
    const run = await aRun('audit', 2);
    await run.report(0, Buffer.from('<broken'));
    await ingest();
    await run.notify(0, 0, 'result');
    await run.notify(1, 0, 'result');
    await run.report(1, Buffer.from('<!DOCTYPE x><x/>'));
    await ingest();
    expect(await run.results()).toEqual(counts(0, 0, 0, 2, false));
    const texts = [(await run.steps(0))[0], (await run.steps(1))[0]].map((step) => step!.result_text);
    expect(texts).toEqual([
      expect.stringMatching(/^done\nThe report of the audit was rejected: the report is not well-formed XML: .+\.$/),
      'done\nThe report of the audit was rejected: the report has a document type or entities.',
    ]);
    await run.report(1, Buffer.from('<!DOCTYPE x><x/>'));
    await ingest();
    expect((await run.steps(1))[0]!.result_text).toBe(texts[1]);
  });

  it('waits with a report that cannot be read for the batch that advances, without holding what that needs', async () => {
    const run = await aRun('audit', 1);
    await run.notify(0, 0, 'delivered');
    await run.report(0, Buffer.from('<broken'));
    const [step] = await run.steps(0);
    const advancing = await db.transaction(async (tx) => {
      await tx.query('select 1 from lane where id = $1 for update', [step!.lane_id]);
      const taken = ingest();
      await untilBlocked(db);
      await tx.query("update activity set status = 'succeeded', result_text = 'done' where id = $1", [step!.id]);
      await tx.query('select 1 from usg_audit where computer_id = $1 for update nowait', [step!.computer_id]);
      return { taken };
    });
    await advancing.taken;
    expect((await run.steps(0))[0]!.result_text).toMatch(/^done\nThe report of the audit was rejected: /);
  });

  it('without a report fails after half an hour, and a late one still counts', async () => {
    const run = await aRun('audit', 1);
    await run.notify(0, 0, 'result');
    clock.advance(29 * MINUTE);
    await failUnreported({ db, clock });
    expect(await run.results()).toEqual(counts(0, 1, 0, 0, true));
    clock.advance(2 * MINUTE);
    await failUnreported({ db, clock });
    expect(await run.results()).toEqual(counts(0, 0, 0, 1, false));
    expect((await run.audits())[0]!['reason']).toBe('The computer sent no report of its audit.');
    await run.report(0, auditReport(['pass']));
    await ingest();
    expect(await run.results()).toEqual(counts(0, 0, 1, 0, false));
  });
});

describe('a run of several steps', () => {
  it('ends for a computer that goes on with its fix after its audit was canceled', async () => {
    const run = await aRun('fix-audit', 1);
    await run.notify(0, 1, 'cancel');
    expect(await run.results()).toEqual(counts(1, 0, 0, 0, true));
    await run.notify(0, 0, 'result');
    expect(await run.results()).toEqual(counts(1, 0, 0, 0, false));
  });

  it('counts a computer as failing as soon as a step fails, and cancels the rest', async () => {
    const run = await aRun('fix-restart-audit', 2);
    await run.notify(0, 0, 'result');
    expect(await run.results()).toEqual(counts(1, 1, 0, 0, true));
    await run.notify(0, 1, 'result');
    await run.notify(0, 2, 'result');
    await run.report(0, auditReport(['pass']));
    await ingest();
    await run.notify(1, 0, 'result', false);
    expect((await run.steps(1)).map(({ status }) => status)).toEqual(['failed', 'canceled', 'canceled']);
    expect(await run.results()).toEqual(counts(0, 0, 1, 1, false));
  });
});

describe('rules', () => {
  it('are kept once however many computers report them, one row each by computer', async () => {
    const run = await aRun('audit', 3);
    const reports: RuleResult[][] = [
      ['pass', 'fail', 'notapplicable'],
      ['pass', 'pass', 'notapplicable'],
      ['informational', 'fail', 'error'],
    ];
    for (const [index, results] of reports.entries()) await run.report(index, auditReport(results));
    await ingest();
    const [stored] = await db.query(
      `select (select count(*)::int from usg_rule where account_id = r.account_id) as rules,
         (select count(*)::int from usg_rule_set where account_id = r.account_id) as sets
       from usg_run r where profile_id = $1`,
      [run.profile],
    );
    expect(stored).toEqual({ rules: 3, sets: 1 });
    const rows = await db.query(
      `select computer_id, rule, severity, identifiers, description, rationale, result, pass from usg_rule_result
       where profile_id = $1 order by computer_id, place`,
      [run.profile],
    );
    expect(rows).toHaveLength(9);
    expect(rows.map(({ result }) => result)).toEqual(reports.flat());
    expect(rows.map(({ pass }) => pass)).toEqual([true, false, null, true, true, null, null, false, false]);
    expect(rows[0]).toMatchObject({
      computer_id: run.computers[0],
      severity: 'high',
      identifiers: ['5.0', 'https://controls.example/0', 'CCE-0'],
      rationale: 'Because & why',
    });
  });

  it('are taken in once by several at the same time', async () => {
    const run = await aRun('audit', 30);
    for (const index of run.computers.keys()) await run.report(index, auditReport([index < 10 ? 'pass' : 'fail']));
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        while (await ingest()) {}
      }),
    );
    while (await ingest()) {}
    expect(await run.results()).toMatchObject({ passing: 10, failing: 20, not_started: 0 });
  });
});
