import assert from 'node:assert/strict';
import { type Latency, latency } from '../harness/statistics.ts';
import { pause, waitFor } from '../harness/wait.ts';
import { createProfile, RULES, type UsgSetting, type Watched, watched } from './usg-setting.ts';

const RUN_LIMIT_MS = 900_000;
/** Profiles made at a time. */
const CREATING = 8;
const TRIED_PROFILES = 40;
/** Beside the time that their making is expected to take. */
const AHEAD_MS = 15_000;

export interface AuditRound extends Watched {
  computers: number;
  reports: number;
  deliveredSeconds: number;
  doneSeconds: number;
  /** GET of the profile with its results. */
  readMs: number;
  /** First read of the summary report that it names. */
  summaryMs: number;
}

/** One run of a profile, until every computer that audits has a result of every rule. */
export async function auditRound(setting: UsgSetting, profile: number): Promise<AuditRound> {
  const { result, ...measured } = await watched(setting, () => runAudits(setting, profile));
  const { rows } = await setting.database.query<{ reports: number; rules: number; reason: string | null }>(
    `select count(*)::int as reports, coalesce(min(length(results)), 0)::int as rules, min(u.reason) as reason
     from usg_audit u join usg_run r on r.id = u.run_id where r.activity_id = $1 and u.reported_at is not null`,
    [result.activity],
  );
  const { reports, rules } = rows[0]!;
  assert.ok(reports > 0 && rules >= RULES, `every report has a result of every rule: ${JSON.stringify(rows)}`);
  const read = await timed(() => setting.api.call<Shown>('GET', `/usg-profiles/${profile}`));
  const { passing, failing, report_uri } = read.value.last_run_results;
  assert.equal(passing + failing, result.computers, 'every computer counts once');
  const summary = await timed(() => setting.api.call('GET', `/usg-profiles/blob?path=${report_uri}`));
  return { ...result, ...measured, reports, readMs: read.ms, summaryMs: summary.ms };
}

async function runAudits({ api, database }: UsgSetting, profile: number) {
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
  const ended = async () => {
    const run = await state();
    return run.open ? null : run;
  };
  const { computers } = await waitFor('all results', ended, limits);
  return { activity: id, computers, deliveredSeconds, doneSeconds: seconds() };
}

interface Shown {
  last_run_results: { passing: number; failing: number; report_uri: string };
}

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const from = performance.now();
  const value = await work();
  return { value, ms: performance.now() - from };
}

export interface DueRound extends Watched {
  profiles: number;
  /** How long after its date each run was started, in seconds. */
  lateness: Latency;
  firstSeconds: number;
}

/** Many profiles due at one moment. They have no computers: what is measured is that each runs once, and when. */
export async function dueRound(setting: UsgSetting, profiles: number): Promise<DueRound> {
  const due = await createDueProfiles(setting, profiles);
  const ordered = async () => {
    const { rows } = await setting.database.query("select 1 from outbox where kind = 'schedule_sync' limit 1");
    return rows.length === 0 ? true : null;
  };
  await waitFor('the schedules on the server', ordered, { everyMs: 200, limitMs: RUN_LIMIT_MS });
  assert.ok(Date.now() < due.getTime(), 'the schedules were there before they were due');
  await pause(Math.max(0, due.getTime() - Date.now() - 1500));
  const { result, ...measured } = await watched(setting, () => awaitRuns(setting, due, profiles));
  const late = await lateness(setting, due);
  assert.equal(late.length, profiles, 'no profile runs twice');
  return { profiles, lateness: latency(late), firstSeconds: Math.min(...late), ...result, ...measured };
}

/** @returns when they are due */
async function createDueProfiles({ api }: UsgSetting, profiles: number): Promise<Date> {
  const create = async (first: number, count: number, due: Date) => {
    let next = first;
    const work = async () => {
      while (next < first + count) {
        next += 1;
        await createProfile(api, `Due ${next}`, { all_computers: false, start_date: due.toISOString() });
      }
    };
    await Promise.all(Array.from({ length: CREATING }, work));
  };
  const from = performance.now();
  await create(profiles, TRIED_PROFILES, new Date('2090-01-01T00:00:00Z'));
  const expectedMs = ((performance.now() - from) / TRIED_PROFILES) * profiles;
  const due = new Date(Math.ceil((Date.now() + 2 * expectedMs + AHEAD_MS) / 1000) * 1000);
  await create(0, profiles, due);
  assert.ok(Date.now() < due.getTime(), 'the profiles were made before they were due');
  return due;
}

async function awaitRuns({ database }: UsgSetting, due: Date, profiles: number): Promise<object> {
  const all = async () => {
    const { rows } = await database.query<{ profiles: number }>(
      'select count(distinct profile_id)::int as profiles from usg_run where nominal_time = $1',
      [due],
    );
    return rows[0]!.profiles === profiles ? true : null;
  };
  await waitFor('a run of each profile', all, { everyMs: 500, limitMs: RUN_LIMIT_MS });
  return {};
}

async function lateness({ database }: UsgSetting, due: Date): Promise<number[]> {
  const { rows } = await database.query<{ late: number }>(
    'select extract(epoch from started_at - $1)::float8 as late from usg_run where nominal_time = $1',
    [due],
  );
  return rows.map(({ late }) => late);
}
