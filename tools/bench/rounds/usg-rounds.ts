import assert from 'node:assert/strict';
import { waitFor } from '../harness/wait.ts';
import { RULES, type UsgSetting, type Watched, watched } from './usg-setting.ts';

const RUN_LIMIT_MS = 900_000;

export interface AuditRound extends Watched {
  computers: number;
  reports: number;
  deliveredSeconds: number;
  doneSeconds: number;
  /** GET of the profile with its results. */
  readMs: number;
  /** First read of its summary report. */
  summaryMs: number;
}

/** One run of a profile, until every auditing computer has a result of every rule. */
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
  await waitFor('all audits started', async () => ((await state()).waiting === 0 ? true : null), limits);
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
