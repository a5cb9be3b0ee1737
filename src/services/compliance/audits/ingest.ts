import { countLetters, RULE_RESULTS, textLength } from '../../../domain/compliance/audit-report.ts';
import {
  type AuditVerdict,
  appendReasons,
  claimUnreported,
  claimWaitingReports,
  deleteWaitingReports,
  hasWaitingReports,
  lockBatchesOfAudits,
  readWaitingReport,
  saveVerdicts,
  type WaitingReport,
} from '../../../persistence/compliance/usg-audits.sql.ts';
import { type CatalogueRuleSet, upsertRuleSets } from '../../../persistence/compliance/usg-rules.sql.ts';
import { isInvalidData } from '../../../persistence/database/errors.ts';
import type { Database, Sql } from '../../../persistence/database/sql.ts';
import { withSavepoint } from '../../../persistence/database/transactions.ts';
import type { Clock } from '../../common/ports.ts';
import type { ReportReader } from './report-reader.ts';
import { createRuleSetCache, type RuleSetCache, ruleSetOf } from './rule-set.ts';

interface IngestDeps {
  db: Database;
  clock: Clock;
  read: ReportReader;
  sets?: RuleSetCache;
}

/** Reports per transaction: enough to share its cost, few enough to repeat after a crash. */
const BATCH = 50;
/** Maximum size of rule texts per transaction, in UTF-16 units; the rest waits. */
const BATCH_CHARS = 16 * 1024 * 1024;
/** Agents send a report right after the result; later ones are not expected. */
const REPORT_GRACE_MS = 30 * 60_000;
const UNREPORTED_BATCH = 1_000;
const UNSTORABLE = 'its text cannot be stored';
const NO_REPORT = 'The computer sent no report of its audit.';

interface ReadReport extends WaitingReport {
  account_id: number;
  run_id: number;
  found: Found | { reason: string };
}

interface Found {
  set: CatalogueRuleSet;
  results: string;
  newChars: number;
}

/** May run concurrently. Returns whether more may be waiting. @see docs/api-conventions.md#usg-runs-and-results */
export async function ingestReports(deps: IngestDeps): Promise<boolean> {
  const { db, sets = createRuleSetCache() } = deps;
  if (!(await hasWaitingReports(db))) return false;
  const known = { ...deps, sets };
  const batch = async (tx: Sql): Promise<boolean> => {
    const claimed = await claimWaitingReports(tx, BATCH);
    const taken = await ingest(tx, known, claimed);
    return claimed.length === BATCH || taken < claimed.length;
  };
  return db.transaction(batch).catch((error: unknown) => {
    if (!isInvalidData(error)) throw error;
    // A report that cannot be stored would block all others forever.
    return db.transaction((tx) => ingestOne(tx, known));
  });
}

type KnownDeps = Omit<IngestDeps, 'db'> & { sets: RuleSetCache };

async function ingest(tx: Sql, { clock, read, sets }: KnownDeps, claimed: readonly WaitingReport[]): Promise<number> {
  const reports: ReadReport[] = [];
  const done: number[] = [];
  let room = BATCH_CHARS;
  for (const report of claimed) {
    if (room <= 0) break;
    done.push(report.activity_id);
    if (!isOfRun(report)) continue;
    const found = await readFound(read, await readWaitingReport(tx, report.activity_id), sets);
    if ('newChars' in found) room -= found.newChars;
    reports.push({ ...report, found });
  }
  if (done.length === 0) return 0;
  await store(tx, reports, clock.now());
  await deleteWaitingReports(tx, done);
  return done.length;
}

async function ingestOne(tx: Sql, deps: KnownDeps): Promise<boolean> {
  const claimed = await claimWaitingReports(tx, 1);
  await withSavepoint(tx, () => ingest(tx, deps, claimed)).catch((error: unknown) => {
    if (!isInvalidData(error)) throw error;
    return ingest(tx, { ...deps, read: () => Promise.resolve({ reason: UNSTORABLE }) }, claimed);
  });
  return claimed.length > 0;
}

async function readFound(
  read: ReportReader,
  text: Uint8Array,
  sets: RuleSetCache,
): Promise<Found | { reason: string }> {
  const known = new Map(sets.entries());
  const reading = await read(text, [...known.keys()]);
  if ('reason' in reading) return reading;
  if ('set' in reading) return { set: known.get(reading.set)!, results: reading.results, newChars: 0 };
  const { rules } = reading;
  const set = ruleSetOf(rules);
  sets.set(set.digest.toString('hex'), set);
  return { set, results: rules.map(({ result }) => RULE_RESULTS[result]).join(''), newChars: textLength(rules) };
}

/** Fails audits that succeeded half an hour ago without a report. @returns whether there may be more */
export async function failUnreported({ db, clock }: Pick<IngestDeps, 'db' | 'clock'>): Promise<boolean> {
  const now = clock.now();
  return db.transaction(async (tx) => {
    const unreported = await claimUnreported(tx, new Date(now.getTime() - REPORT_GRACE_MS), UNREPORTED_BATCH);
    const verdicts = unreported.map(({ run_id, computer_id }) => ({
      ...failedFor(NO_REPORT),
      runId: run_id,
      computerId: computer_id,
      reportedAt: null,
    }));
    await saveVerdicts(tx, verdicts, now);
    return unreported.length === UNREPORTED_BATCH;
  });
}

function isOfRun(report: WaitingReport): report is WaitingReport & { account_id: number; run_id: number } {
  return report.run_id !== null && report.account_id !== null;
}

async function store(tx: Sql, reports: readonly ReadReport[], now: Date): Promise<void> {
  const sets = await storeRules(tx, reports);
  const verdicts = reports.map((report) => toVerdict(report, sets.get(report.activity_id) ?? null));
  const rejected = reports.filter((_, index) => verdicts[index]!.reason !== null);
  const rejectedIds = rejected.map(({ activity_id }) => activity_id);
  await lockBatchesOfAudits(tx, rejectedIds);
  const explained = await saveVerdicts(tx, verdicts, now);
  if (explained.length === 0) return;
  const keys = new Set(explained.map(({ run_id, computer_id }) => `${run_id}/${computer_id}`));
  const reasons = reports.flatMap(({ activity_id, run_id, computer_id }, index) => {
    const { reason } = verdicts[index]!;
    return reason !== null && keys.has(`${run_id}/${computer_id}`) ? [{ activityId: activity_id, reason }] : [];
  });
  await appendReasons(tx, reasons);
}

/** Ids of the rule sets of valid reports, by operation. In order of accounts, because it locks their sets. */
async function storeRules(tx: Sql, reports: readonly ReadReport[]): Promise<Map<number, number>> {
  const ids = new Map<number, number>();
  const valid = reports.flatMap(({ found, ...report }) => ('set' in found ? [{ ...report, set: found.set }] : []));
  const byAccount = Map.groupBy(valid, ({ account_id }) => account_id);
  for (const [accountId, own] of [...byAccount].sort(([a], [b]) => a - b)) {
    const distinct = [...new Map(own.map(({ set }) => [set.digest.toString('hex'), set])).values()];
    const stored = await upsertRuleSets(tx, accountId, distinct);
    const byDigest = new Map(distinct.map(({ digest }, index) => [digest.toString('hex'), stored[index]!]));
    for (const { activity_id, set } of own) ids.set(activity_id, byDigest.get(set.digest.toString('hex'))!);
  }
  return ids;
}

function toVerdict({ run_id, computer_id, received_at, found }: ReadReport, ruleSetId: number | null): AuditVerdict {
  const own = { runId: run_id, computerId: computer_id, reportedAt: received_at };
  if ('reason' in found) return { ...failedFor(`The report of the audit was rejected: ${found.reason}.`), ...own };
  const { passed, failed } = countLetters(found.results);
  const state = failed === 0 ? 'pass' : 'fail';
  return { ...own, state, reason: null, passed, failed, ruleSetId, results: found.results };
}

function failedFor(reason: string) {
  return { state: 'fail' as const, reason, passed: 0, failed: 0, ruleSetId: null, results: null };
}
