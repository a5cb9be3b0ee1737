import assert from 'node:assert/strict';
import { join } from 'node:path';
import pg from 'pg';
import type { BenchContext } from '../bench.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { cpuMsOf, measure, type Role, type Usage } from '../harness/usage.ts';
import { pause, waitFor } from '../harness/wait.ts';
import type { LoadResult, RepeatRequest } from '../load/load.contract.ts';
import { type LoadClient, startLoad } from '../load/load-client.ts';
import { type Api, logIn } from '../product/api.ts';
import { type BenchFleet, pingSecondsFor, startFleet } from '../product/fleet.ts';
import { PRODUCT_ROLES, type Stack, startStack } from '../product/stack.ts';

const COMPUTERS = 10_000;
/** Rules of a report, as many as those of real benchmarks. */
const RULES = 400;
const DUE_PROFILES = 1000;
/** Long enough to make so many profiles before they are due. */
const DUE_AHEAD_MS = 90_000;
const PROBE_EVERY_MS = 50;
const RUN_LIMIT_MS = 600_000;

interface Setting {
  stack: Stack;
  api: Api;
  database: pg.Client;
  load: LoadClient;
  roles: readonly Role[];
  probe: RepeatRequest;
}

interface AuditRound {
  computers: number;
  reports: number;
  deliveredSeconds: number;
  doneSeconds: number;
  readMs: number;
  summaryMs: number;
  /** Pings of all agents in turn meanwhile: one that pings so often would be refused. */
  probe: LoadResult;
  usage: Usage;
}

interface DueRound {
  firstSeconds: number;
  lastSeconds: number;
  probe: LoadResult;
  usage: Usage;
}

/**
 * A profile that audits a whole fleet, and many profiles due at one moment, with a gateway that answers meanwhile.
 *
 * @see perf-reliability A3
 */
export async function usg(context: BenchContext): Promise<Report> {
  const { options } = context;
  const setting = await prepare(context, options.computers?.at(-1) ?? COMPUTERS);
  const { id } = await createProfile(setting.api, 'Everybody', { all_computers: true, start_date: '2090-01-01' });
  const audits: AuditRound[] = [];
  for (let round = 0; round <= options.rounds; round++) {
    const audit = await auditRound(setting, id);
    context.progress(`audits of ${audit.computers} computers: ${audit.doneSeconds.toFixed(1)} s`);
    if (round > 0) audits.push(audit);
  }
  context.progress(`${DUE_PROFILES} profiles due at one moment`);
  return report(context, audits, await dueRound(setting));
}

async function prepare({ options, resources, root }: BenchContext, computers: number): Promise<Setting> {
  const stack = await startStack(resources, root, join(resources.folder('flotilla-bench-'), 'data'));
  await stack.ready();
  const api = await logIn(stack);
  const database = new pg.Client({ connectionString: stack.environment()['FLOTILLA_DATABASE_URL']! });
  database.on('error', () => {});
  await database.connect();
  resources.defer(() => database.end());
  const load = await startLoad(resources);
  const { pingSeconds = pingSecondsFor(computers) } = options;
  const order = { computers, account: api.account, pingSeconds, seed: 1, auditRules: RULES };
  const fleet: BenchFleet = await startFleet(resources, root, stack, order);
  const agents = await api.computerIds();
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const roles: Role[] = [
    ...stack.roles,
    { name: 'fleet (not counted)', roots: () => [fleet.pid] },
    { name: 'load', roots: () => [load.pid] },
    { name: 'bench', roots: () => [process.pid], alone: true },
  ];
  const probe = { method: 'POST', path: '/ping', headers, bodies: agents.map((id) => `insecure_id=${id}`) };
  return { stack, api, database, load, roles, probe };
}

function createProfile(api: Api, title: string, over: object): Promise<{ id: number }> {
  const profile = { title, benchmark: 'cis_level1_server', mode: 'audit', schedule: 'FREQ=MONTHLY', ...over };
  return api.call('POST', '/usg-profiles', profile);
}

/** What `work` takes while agents ping. */
async function watched<T>({ load, stack, probe, roles }: Setting, work: () => Promise<T>) {
  const stop = load.probe({ kind: 'probe', port: stack.port, request: probe, everyMs: PROBE_EVERY_MS });
  const { result, usage } = await measure(roles, work);
  return { ...result, usage, probe: await stop() };
}

/** One run until every computer that audits has a result of every rule. */
async function auditRound(setting: Setting, profile: number): Promise<AuditRound> {
  const { api, database } = setting;
  await pause(1000);
  const round = await watched(setting, async () => {
    const from = performance.now();
    const seconds = () => (performance.now() - from) / 1000;
    const { id } = await api.call<{ id: number }>('POST', `/usg-profiles/${profile}:execute`);
    const state = async () => {
      const { rows } = await database.query<{ computers: number; waiting: number; open: boolean }>({
        name: 'bench-run',
        text: `select r.computer_count as computers, r.not_started_count as waiting,
                 a.open_count > 0 or r.in_progress_count > 0 as open
               from usg_run r join activity a on a.id = r.activity_id where a.id = $1`,
        values: [id],
      });
      return rows[0]!;
    };
    const limits = { everyMs: 50, limitMs: RUN_LIMIT_MS };
    await waitFor('all audits begun', async () => ((await state()).waiting === 0 ? true : null), limits);
    const deliveredSeconds = seconds();
    const { computers } = await waitFor(
      'all results',
      async () => {
        const run = await state();
        return run.open ? null : run;
      },
      limits,
    );
    return { activity: id, computers, deliveredSeconds, doneSeconds: seconds() };
  });
  const { rows } = await database.query<{ reports: number; rules: number }>(
    `select count(*)::int as reports, coalesce(min(length(results)), 0)::int as rules
     from usg_audit u join usg_run r on r.id = u.run_id where r.activity_id = $1 and u.reported_at is not null`,
    [round.activity],
  );
  const { reports, rules } = rows[0]!;
  assert.ok(reports > 0 && rules >= RULES, 'every report has a result of every rule');
  const read = await timed(() => api.call<Shown>('GET', `/usg-profiles/${profile}`));
  const { passing, failing, report_uri } = read.value.last_run_results;
  assert.equal(passing + failing, round.computers, 'every computer counts once');
  const summary = await timed(() => api.call('GET', `/usg-profiles/blob?path=${report_uri}`));
  return { ...round, reports, readMs: read.ms, summaryMs: summary.ms };
}

interface Shown {
  last_run_results: { passing: number; failing: number; report_uri: string };
}

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const from = performance.now();
  const value = await work();
  return { value, ms: performance.now() - from };
}

/** Profiles without computers: what is measured is that each runs once, and when. */
async function dueRound(setting: Setting): Promise<DueRound> {
  const { api, database } = setting;
  const due = new Date(Math.ceil((Date.now() + DUE_AHEAD_MS) / 1000) * 1000);
  for (let n = 0; n < DUE_PROFILES; n++) {
    await createProfile(api, `Due ${n}`, { all_computers: false, start_date: due.toISOString() });
  }
  assert.ok(Date.now() < due.getTime(), 'the profiles were made before they were due');
  await pause(due.getTime() - Date.now());
  return watched(setting, async () => {
    const read = async () => {
      const { rows } = await database.query<{ profiles: number; runs: number; first: number; last: number }>(
        `select count(*)::int as runs, count(distinct profile_id)::int as profiles,
           extract(epoch from min(started_at) - $1)::float8 as first,
           extract(epoch from max(started_at) - $1)::float8 as last
         from usg_run where nominal_time = $1`,
        [due],
      );
      return rows[0]!.profiles === DUE_PROFILES ? rows[0]! : null;
    };
    const { runs, first, last } = await waitFor('a run of each', read, { everyMs: 500, limitMs: RUN_LIMIT_MS });
    assert.equal(runs, DUE_PROFILES, 'no profile runs twice');
    return { firstSeconds: first, lastSeconds: last };
  });
}

function report({ options }: BenchContext, audits: AuditRound[], due: DueRound): Report {
  const builder = new ReportBuilder();
  for (const { usage } of [...audits, due]) builder.window(usage);
  const figures: ReadonlyArray<[string, string, (round: AuditRound) => number]> = [
    ['all delivered', 's', (r) => r.deliveredSeconds],
    ['all results stored', 's', (r) => r.doneSeconds],
    ['reports stored', '/s', (r) => r.reports / r.doneSeconds],
    ['results of rules stored', '/s', (r) => (r.reports * RULES) / r.doneSeconds],
    ['CPU per report', 'ms', (r) => cpuMsOf(r.usage, PRODUCT_ROLES) / r.reports],
    ...PRODUCT_ROLES.map((role): [string, string, (round: AuditRound) => number] => [
      `CPU per report, ${role}`,
      'ms',
      (r) => cpuMsOf(r.usage, [role]) / r.reports,
    ]),
    ['ping meanwhile, p50', 'ms', (r) => r.probe.latencyMs.p50],
    ['ping meanwhile, p99', 'ms', (r) => r.probe.latencyMs.p99],
    ['GET /usg-profiles/<id>', 'ms', (r) => r.readMs],
    ['summary report, first read', 'ms', (r) => r.summaryMs],
  ];
  for (const [name, unit, of] of figures) builder.row(name, unit, audits.map(of));
  builder.row(`${DUE_PROFILES} due at once: first run`, 's', [due.firstSeconds]);
  builder.row(`${DUE_PROFILES} due at once: last run`, 's', [due.lastSeconds]);
  builder.row(`${DUE_PROFILES} due at once: ping, p99`, 'ms', [due.probe.latencyMs.p99]);
  for (const { probe } of [...audits, due]) assert.equal(probe.failures, 0, 'no answer to a ping but 200');
  builder.asserted('every computer counts once in every run; each report has all rules; one run of each due profile');
  builder.note(`${audits[0]?.computers} computers, ${audits[0]?.reports} of which report, ${RULES} rules each`);
  return builder.finish('usg', { audits, due }, options.judgeAnyway);
}
