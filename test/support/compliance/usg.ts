import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { expect } from 'vitest';
import type { RuleResult } from '../../../src/domain/compliance/audit-report.ts';
import type { UsgMode } from '../../../src/domain/compliance/profile.ts';
import { type CatalogueRule, upsertRuleSets } from '../../../src/persistence/compliance/usg-rules.sql.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { createDatabaseFileStore } from '../../../src/services/common/files.ts';
import type { Caller, Clock } from '../../../src/services/common/ports.ts';
import type { UsgProfileRequest } from '../../../src/services/compliance/profiles/model.ts';
import {
  createUsgProfilesService,
  type UsgProfilesService,
} from '../../../src/services/compliance/profiles/usg-profiles.service.ts';
import { createUsgKind } from '../../../src/services/compliance/profiles/usg-runs.ts';
import { produceReport } from '../../../src/services/compliance/reports/produce.ts';
import type { Engine } from '../../../src/services/engine/engine.ts';
import type { ProfileKind } from '../../../src/services/schedules/profile-kind.ts';
import { testLogger } from '../../../tools/harness/test-log.ts';
import { addEvent, anAccount, childrenOf, SETTINGS, type TestClock } from '../activities/activity-rows.ts';
import type { FleetWorld } from '../agents/fleet-world.ts';
import { administratorOf } from '../http/app.ts';

/** An account with computers, and the profile service and schedule kind over its database, without an API. */
export interface UsgWorld {
  profiles: UsgProfilesService;
  kind: ProfileKind;
  caller: Caller;
  computers: number[];
  /** Creates a profile for all computers, weekly from `startDate` on. @returns its id */
  create(over: Partial<UsgProfileRequest> & { startDate: string }): Promise<number>;
  /** Runs of a profile in the order they were started. */
  runs(profileId: number): Promise<Array<{ nominal_time: Date | null; activity_id: number | null; started_at: Date }>>;
}

export async function createUsgWorld(db: Database, clock: Clock, computers = 2): Promise<UsgWorld> {
  const account = await anAccount(db, { computers });
  const caller = await administratorOf(db, account);
  const deps = { db, files: createDatabaseFileStore(db), settings: SETTINGS };
  const logger = testLogger();
  const profiles = createUsgProfilesService({ ...deps, clock });
  return {
    profiles,
    kind: createUsgKind({ ...deps, logger, publicUrl: 'http://localhost:8080' }),
    caller,
    computers: account.computers,
    async create(over) {
      const { id } = await profiles.create(caller, { ...REQUEST, ...over });
      return id;
    },
    runs: (profileId) =>
      db.query('select nominal_time, activity_id, started_at from usg_run where profile_id = $1 order by id', [
        profileId,
      ]),
  };
}

const REQUEST: Omit<UsgProfileRequest, 'startDate'> = {
  title: 'Weekly baseline',
  benchmark: 'cis_level1_server',
  mode: 'audit',
  schedule: 'FREQ=WEEKLY',
  timezone: null,
  accessGroup: null,
  allComputers: true,
  tags: [],
  restartDelayHours: 0,
  restartWindowMinutes: 0,
  tailoringFile: null,
  traceparent: null,
};

/** A valid body of POST /usg-profiles at the time of the test clock, 2026-11-21T12:00:00Z. */
export const usgProfile = (over: object = {}) => ({
  title: 'Monthly baseline',
  benchmark: 'cis_level1_server',
  mode: 'audit',
  schedule: 'FREQ=WEEKLY;BYDAY=MO',
  start_date: '2026-12-01T02:00:00Z',
  all_computers: true,
  ...over,
});

/** What tests do with reports over the API, on a world that is made before the first test. */
export function usgReportRequests(worldOf: () => FleetWorld) {
  const admin = () => worldOf().tokens.admin;

  const call = (method: string, path: string, token = admin(), headers = {}) =>
    worldOf().app.call(method, path, { token, headers });

  /** A profile of the servers. */
  const create = async (over: object = {}): Promise<number> => {
    const body = usgProfile({ access_group: 'servers', ...over });
    return (await worldOf().app.call('POST', '/usg-profiles', { token: admin(), body })).body.id;
  };

  /** A run that is over, on two computers and three rules. */
  const run = (profileId: number, startedAt: string, over: Partial<EndedRun> = {}) => {
    const { db, accountId, ids } = worldOf();
    const computers = new Map([
      [ids['web']!, 'pfn'],
      [ids['db']!, 'ppp'],
    ]);
    const rules = [aRule('rule_1'), aRule('rule_2'), aRule('rule_3')];
    return insertAuditedRun(db, { accountId, profileId, startedAt: new Date(startedAt), computers, rules, ...over });
  };

  const requestReport = (profileId: number, query: string, token?: string) =>
    call('GET', `/usg-profiles/${profileId}/report?${query}`, token);

  const blob = (path: string, token?: string, headers?: object) =>
    call('GET', `/usg-profiles/blob?path=${encodeURIComponent(path)}`, token, headers);

  /** What a worker does. */
  const produce = (activityId: number) => {
    const { db, clock } = worldOf();
    return produceReport({ db, clock, files: createDatabaseFileStore(db) }, activityId, () => undefined);
  };

  /** The path of a report, made if need be. */
  async function made(profileId: number, query: string): Promise<string> {
    const { status, body } = await requestReport(profileId, query);
    expect(status).toBe(200);
    if (body.id === null) return body.result_text;
    expect(await produce(body.id)).toBe('succeeded');
    return (await call('GET', `/activities/${body.id}`)).body.result_text;
  }

  async function csv(path: string): Promise<string[][]> {
    const { status, body } = await blob(path);
    expect(status).toBe(200);
    return parse(body.file_content, { record_delimiter: '\r\n' });
  }

  return { call, create, run, requestReport, blob, produce, made, csv };
}

/** A rule with texts that need no attention. */
export function aRule(rule: string, over: Partial<Omit<CatalogueRule, 'digest'>> = {}): CatalogueRule {
  const texts = {
    rule,
    severity: 'high',
    title: `Title of ${rule}`,
    identifiers: ['CCE-1', 'NIST AC-2'],
    description: `Description of ${rule}`,
    rationale: `Rationale of ${rule}`,
    ...over,
  };
  return { ...texts, digest: createHash('sha256').update(JSON.stringify(texts)).digest() };
}

interface EndedRun {
  accountId: number;
  profileId: number;
  startedAt: Date;
  /** Letters of results by computer, in the order of `rules`; null: no report came. */
  computers: ReadonlyMap<number, string | null>;
  rules: readonly CatalogueRule[];
}

/** A run that is over, as its audits left it. @returns its id */
export async function insertAuditedRun(db: Database, run: EndedRun): Promise<number> {
  const { accountId, profileId, startedAt, rules } = run;
  const digest = createHash('sha256')
    .update(Buffer.concat(rules.map((rule) => rule.digest)))
    .digest();
  return db.transaction(async (tx) => {
    const [set] = await upsertRuleSets(tx, accountId, [{ digest, rules }]);
    const [row] = await tx.query<{ id: number }>(
      `with parent as (
         insert into activity (account_id, type, summary, status, creation_time, completion_time, parameters)
         values ($1, 'UsgActivity', 'USG audit', 'succeeded', $3, $3, '{}') returning id)
       insert into usg_run (account_id, profile_id, activity_id, started_at, computer_count, passing_count, changed_at)
       select $1, $2, id, $3, $4, $4, $3 from parent returning id`,
      [accountId, profileId, startedAt, run.computers.size],
    );
    for (const [computerId, letters] of run.computers) {
      const counts = [/[px]/g, /[feu]/g].map((kind) => letters?.match(kind)?.length ?? 0);
      await tx.query(
        `insert into usg_audit (computer_id, profile_id, run_id, state, reported_at, passed_count, failed_count,
           rule_set_id, results)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [
          computerId,
          profileId,
          row!.id,
          counts[1] === 0 && letters !== null ? 'pass' : 'fail',
          letters === null ? null : startedAt,
          ...counts,
          letters === null ? null : set,
          letters,
        ],
      );
    }
    return row!.id;
  });
}

interface Scene {
  db: Database;
  engine: Engine;
  clock: TestClock;
}

/** A run of a new profile on the computers of a new account, its batches opened. */
export async function anAuditedRun(scene: Scene, mode: UsgMode, computers: number): Promise<AuditedRun> {
  const { db, engine, clock } = scene;
  const world = await createUsgWorld(db, clock, computers);
  const profile = await world.create({ mode, startDate: clock.now().toISOString() });
  const [made] = await world.runs(profile);
  const run = new AuditedRun(scene, world, { profile, activity: made!.activity_id! });
  for (const { batch } of await engine.listOpenBatches(run.activity)) await engine.processPendingEvents(batch, false);
  return run;
}

class AuditedRun {
  readonly #scene: Scene;
  readonly #world: UsgWorld;
  readonly profile: number;
  readonly activity: number;

  constructor(scene: Scene, world: UsgWorld, { profile, activity }: { profile: number; activity: number }) {
    this.#scene = scene;
    this.#world = world;
    this.profile = profile;
    this.activity = activity;
  }

  get computers() {
    return this.#world.computers;
  }

  /** The steps of one computer, in order. */
  async steps(index: number) {
    const all = await childrenOf(this.#scene.db, this.activity);
    return all.filter(({ computer_id }) => computer_id === this.computers[index]);
  }

  async notify(index: number, step: number, kind: 'delivered' | 'result' | 'cancel', ok = true) {
    const { db, clock, engine } = this.#scene;
    const { id, lane_id } = (await this.steps(index))[step]!;
    await addEvent(db, { batch: lane_id, activity: id, kind, ok, body: ok ? 'done' : 'broken', at: clock.now() });
    await engine.processPendingEvents(lane_id, false);
  }

  /** What the agent of a computer sends after its audit, by its last step by default. */
  async report(index: number, report: Buffer, step = -1) {
    const { db, clock } = this.#scene;
    const { id, computer_id } = (await this.steps(index)).at(step)!;
    await db.query('insert into usg_audit_report values ($1, $2, $3, $4, $5)', [
      id,
      computer_id,
      'r',
      report,
      clock.now(),
    ]);
  }

  async results() {
    const { lastRun } = await this.#world.profiles.get(this.#world.caller, this.profile);
    const { not_started, in_progress, passing, failing, open } = lastRun!;
    return { not_started, in_progress, passing, failing, open };
  }

  audits() {
    return this.#scene.db.query(
      'select state, reason, passed_count, failed_count from usg_audit where profile_id = $1 order by computer_id',
      [this.profile],
    );
  }
}

const ID = 'xccdf_org.ssgproject.content';

/** A result file as the tools of the format write it, with a benchmark of as many rules as there are results. */
export function auditReport(results: readonly RuleResult[], edit: { rules?: string; before?: string } = {}): Buffer {
  const rules = results.map(
    (_, n) => `<Group id="${ID}_group_${n}"><title>Group ${n}</title>
      <Rule id="${ID}_rule_${n}" severity="${n % 2 === 0 ? 'high' : 'low'}" selected="true">
        <title>Rule ${n}</title>
        <description>Line one,<html:br xmlns:html="http://www.w3.org/1999/xhtml"/>line <html:code>two</html:code>.</description>
        <reference href="https://benchmarks.example/${n}">5.${n}</reference>
        <reference href="https://controls.example/${n}"/>
        <rationale>Because &amp; why</rationale>
        <ident system="https://ids.example">CCE-${n}</ident>
        <fix system="urn:xccdf:fix:script:sh"><![CDATA[echo "<title>not this</title>"]]></fix>
        <check system="oval"><check-content-ref name="${n}" href="x.xml"/></check>
      </Rule></Group>`,
  );
  const verdicts = results.map(
    (result, n) => `<rule-result idref="${ID}_rule_${n}" severity="${n % 2 === 0 ? 'high' : 'low'}" weight="1.0">
      <result>${result}</result><check system="oval"><check-export value-id="v" export-name="result"/></check></rule-result>`,
  );
  const text = `<?xml version="1.0" encoding="UTF-8"?>${edit.before ?? ''}
    <Benchmark xmlns="http://checklists.nist.gov/xccdf/1.2" id="b"><status>accepted</status>${edit.rules ?? rules.join('')}
    <TestResult id="t"><title>audit</title><target>web</target>${verdicts.join('')}<score>50</score></TestResult></Benchmark>`;
  return Buffer.from(text);
}
