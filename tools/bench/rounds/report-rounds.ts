import assert from 'node:assert/strict';
import { createHash, type Hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { measure, type Role, type Usage } from '../harness/usage.ts';
import { waitFor } from '../harness/wait.ts';
import { API_PREFIX, type Api } from '../product/api.ts';
import type { Stack } from '../product/stack.ts';

const REPORT_LIMIT_MS = 900_000;
const SETTLE_MS = 1500;

export interface ReportSetting {
  stack: Stack;
  api: Api;
  database: pg.Client;
  roles: readonly Role[];
  profileId: number;
  days: { first: string; last: string };
}

export interface SideRound {
  seconds: number;
  bytes: number;
  usage: Usage;
  /** Reading the finished report over HTTP; the product's side only. */
  readSeconds: number;
}

/** Requests a report until its file can be read, then reads it. */
export async function productRound(setting: ReportSetting, detailed: boolean): Promise<SideRound> {
  const { api, database, profileId, days } = setting;
  // No real change of the runs; it only keeps the existing report from being served again.
  await database.query('update usg_run set changed_at = now() where profile_id = $1', [profileId]);
  await sleep(SETTLE_MS);
  const query = `start_date=${days.first}&end_date=${days.last}&detailed=${detailed}`;
  const { result, usage } = await measure(setting.roles, async () => {
    const from = performance.now();
    const { id } = await api.call<{ id: number }>('GET', `/usg-profiles/${profileId}/report?${query}`);
    const ended = async () => {
      const { rows } = await database.query<{ status: string; path: string }>({
        name: 'bench-report',
        text: 'select status, result_text as path from activity where id = $1 and completion_time is not null',
        values: [id],
      });
      return rows[0] ?? null;
    };
    const { status, path } = await waitFor('the report', ended, { everyMs: 10, limitMs: REPORT_LIMIT_MS });
    assert.equal(status, 'succeeded', 'the report is made');
    return { path, seconds: (performance.now() - from) / 1000 };
  });
  const from = performance.now();
  const bytes = await readReport(setting, result.path, () => {});
  await dropOldReports(database);
  return { seconds: result.seconds, bytes, usage, readSeconds: (performance.now() - from) / 1000 };
}

/** Deletes unreachable earlier reports and reclaims their space, so that rounds are alike. */
async function dropOldReports(database: pg.Client): Promise<void> {
  await database.query(`delete from stored_file where kind = 'report' and key is null`);
  await database.query('vacuum stored_file_chunk');
}

/** The same rows by COPY, unordered and discarded. */
export async function copyRound(setting: ReportSetting, detailed: boolean): Promise<SideRound> {
  await sleep(SETTLE_MS);
  const { result, usage } = await measure(setting.roles, async () => {
    const from = performance.now();
    let bytes = 0;
    await copyOut(setting.database, copyOf(setting.profileId, detailed, null), (piece) => {
      bytes += piece.length;
    });
    return { bytes, seconds: (performance.now() - from) / 1000 };
  });
  return { ...result, usage, readSeconds: 0 };
}

/** Compares a report of one day with the rows by COPY in its order, byte by byte. @returns number of compared lines */
export async function compareDay(setting: ReportSetting, detailed: boolean): Promise<number> {
  const { api, database, profileId, days } = setting;
  const query = `start_date=${days.first}&detailed=${detailed}`;
  const requested = `/usg-profiles/${profileId}/report?${query}`;
  const response = () => api.call<{ result_text: string | null; activity_status: string }>('GET', requested);
  const made = async () => {
    const { activity_status: status, result_text: path } = await response();
    return status === 'succeeded' ? path : null;
  };
  const path = await waitFor('the report on a day', made, { everyMs: 200, limitMs: REPORT_LIMIT_MS });
  const report = createHash('sha256');
  let lines = -1;
  await readReport(setting, path, (piece) => {
    for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) lines += 1;
    report.update(piece);
  });
  const bare = createHash('sha256').update(await headerOf(setting, path));
  await copyOut(database, copyOf(profileId, detailed, days.first), (piece) => updateWithCrLf(bare, piece));
  assert.equal(report.digest('hex'), bare.digest('hex'), 'a report equals the bare rows, byte by byte');
  return lines;
}

async function headerOf(setting: ReportSetting, path: string): Promise<string> {
  let head = '';
  await readReport(setting, path, (piece) => {
    if (!head.includes('\n')) head += piece.toString();
  });
  return head.slice(0, head.indexOf('\n') + 1);
}

/** COPY ends rows in a line feed alone. */
function updateWithCrLf(hash: Hash, piece: Buffer): void {
  hash.update(piece.toString('latin1').replaceAll('\n', '\r\n'), 'latin1');
}

async function readReport(
  { stack, api }: ReportSetting,
  path: string,
  onChunk: (piece: Buffer) => void,
): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${stack.port}${API_PREFIX}/usg-profiles/blob?path=${path}`, {
    headers: { authorization: `Bearer ${api.token}`, accept: 'text/csv' },
  });
  assert.equal(response.status, 200, 'the report can be read');
  let bytes = 0;
  for await (const piece of response.body!) {
    bytes += piece.length;
    onChunk(Buffer.from(piece));
  }
  return bytes;
}

/** Runs a COPY to standard output; the driver itself drops its chunks. */
async function copyOut(database: pg.Client, statement: string, onChunk: (piece: Buffer) => void): Promise<void> {
  const { connection } = database as unknown as { connection: NodeJS.EventEmitter };
  const listener = ({ chunk }: { chunk: Buffer }) => onChunk(chunk);
  connection.on('copyData', listener);
  try {
    await database.query(statement);
  } finally {
    connection.off('copyData', listener);
  }
}

const TIME = `to_char(u.reported_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

/** COPY takes no parameters; both come from the benchmark itself. @param day - null: all, unordered */
function copyOf(profileId: number, detailed: boolean, day: string | null): string {
  const runs = `usg_run r join usg_audit u on u.run_id = r.id
    where r.profile_id = ${profileId} ${day === null ? '' : `and r.started_at::date = '${day}'`}`;
  const order = day === null ? '' : `order by r.started_at, r.id, u.computer_id${detailed ? ', x.place' : ''}`;
  const rows = detailed
    ? `select u.computer_id,
         'usg_profile_audit_report_ID' || r.profile_id || '-' || to_char(r.started_at at time zone 'UTC', 'YYYYMMDD'),
         d.rule, d.severity, array_to_string(d.identifiers, '; '), d.description, d.rationale,
         case when x.letter in ('p', 'x') then 'true' when x.letter in ('f', 'e', 'u') then 'false' else 'n/a' end, ${TIME}
       from ${runs.replace(' where', DETAILS)} ${order}`
    : `select u.computer_id, (select c.title from computer c where c.id = u.computer_id), u.passed_count, u.failed_count,
         round(100.0 * u.passed_count / nullif(u.passed_count + u.failed_count, 0)), ${TIME} from ${runs} ${order}`;
  return `copy (${rows}) to stdout (format csv)`;
}

const DETAILS = `
  join usg_rule_set s on s.id = u.rule_set_id
  cross join lateral unnest(s.rule_ids, string_to_array(u.results, null)) with ordinality as x(rule_id, letter, place)
  join usg_rule d on d.id = x.rule_id where`;
