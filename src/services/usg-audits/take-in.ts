import { createHash } from 'node:crypto';
import {
  type AuditedRule,
  type AuditReading,
  countResults,
  RULE_RESULTS,
  textLength,
} from '../../domain/usg/audit-report.ts';
import {
  type AuditVerdict,
  appendReasons,
  claimUnreported,
  saveVerdicts,
} from '../../persistence/repositories/usg-audits.repository.ts';
import {
  claimWaitingReports,
  deleteWaitingReports,
  readWaitingReport,
  type WaitingReport,
} from '../../persistence/repositories/usg-reports-in.repository.ts';
import {
  type CatalogueRule,
  type CatalogueRuleSet,
  keepRuleSets,
} from '../../persistence/repositories/usg-rules.repository.ts';
import type { Database, Sql } from '../../persistence/sql.ts';
import type { Clock } from '../ports.ts';
import type { ReportReader } from './report-reader.ts';

export interface TakeInDeps {
  db: Database;
  clock: Clock;
  read: ReportReader;
}

/** Reports of one transaction: enough to share its cost, few enough that a crash repeats little. */
const BATCH = 20;
/** Texts of rules in one transaction, beyond which the rest waits; in UTF-16 units. */
const BATCH_CHARS = 16 * 1024 * 1024;
/** Agents send a report right behind the result; one that has not come by then does not come. */
const REPORT_GRACE_MS = 30 * 60_000;
const OVERDUE_BATCH = 1_000;
const NO_REPORT = 'The computer sent no report of its audit.';

/** A claimed report of a run, read. */
interface ReadReport extends WaitingReport {
  account_id: number;
  run_id: number;
  reading: AuditReading;
}

/**
 * Takes in some of the reports that agents sent: their rules are stored and their computers pass or fail. What cannot be
 * read makes its computer fail, with the reason.
 *
 * @returns whether more may be waiting
 * @remarks One transaction that ends with the reports put away: after a crash in between it is as if it had not begun.
 * Several may run at once. What is in memory is bounded: one report, and the texts of some.
 * @see API specification, "USG profiles"; api-decisions 5.4
 */
export async function takeInReports({ db, clock, read }: TakeInDeps): Promise<boolean> {
  return db.transaction(async (tx) => {
    const claimed = await claimWaitingReports(tx, BATCH);
    if (claimed.length === 0) return false;
    const reports: ReadReport[] = [];
    const done: number[] = [];
    let room = BATCH_CHARS;
    for (const report of claimed) {
      if (room <= 0) break;
      done.push(report.activity_id);
      if (!isOfRun(report)) continue;
      const reading = await read(await readWaitingReport(tx, report.activity_id));
      if ('rules' in reading) room -= textLength(reading.rules);
      reports.push({ ...report, reading });
    }
    await store(tx, reports, clock.now());
    await deleteWaitingReports(tx, done);
    return claimed.length === BATCH || done.length < claimed.length;
  });
}

/**
 * Lets some of the computers fail whose audit succeeded half an hour ago and that sent no report of it.
 *
 * @returns whether there may be more
 */
export async function closeUnreported({ db, clock }: Pick<TakeInDeps, 'db' | 'clock'>): Promise<boolean> {
  const now = clock.now();
  return db.transaction(async (tx) => {
    const overdue = await claimUnreported(tx, new Date(now.getTime() - REPORT_GRACE_MS), OVERDUE_BATCH);
    const verdicts = overdue.map(({ run_id, computer_id }) => ({
      ...failedFor(NO_REPORT),
      runId: run_id,
      computerId: computer_id,
      reportedAt: null,
    }));
    await saveVerdicts(tx, verdicts, now);
    return overdue.length === OVERDUE_BATCH;
  });
}

function isOfRun(report: WaitingReport): report is WaitingReport & { account_id: number; run_id: number } {
  return report.run_id !== null && report.account_id !== null;
}

async function store(tx: Sql, reports: readonly ReadReport[], now: Date): Promise<void> {
  const sets = await storeRules(tx, reports);
  const verdicts = reports.map((report) => toVerdict(report, sets.get(report.activity_id) ?? null));
  const explained = await saveVerdicts(tx, verdicts, now);
  if (explained.length === 0) return;
  const keys = new Set(explained.map(({ run_id, computer_id }) => `${run_id}/${computer_id}`));
  const reasons = reports.flatMap(({ activity_id, run_id, computer_id }, index) => {
    const { reason } = verdicts[index]!;
    return reason !== null && keys.has(`${run_id}/${computer_id}`) ? [{ activityId: activity_id, reason }] : [];
  });
  await appendReasons(tx, reasons);
}

/** Rule set of each report that could be read, by its operation. */
async function storeRules(tx: Sql, reports: readonly ReadReport[]): Promise<Map<number, number>> {
  const ids = new Map<number, number>();
  for (const accountId of [...new Set(reports.map(({ account_id }) => account_id))].sort((a, b) => a - b)) {
    const own = reports.flatMap(({ account_id, activity_id, reading }) =>
      account_id === accountId && 'rules' in reading ? [{ activity_id, set: ruleSetOf(reading.rules) }] : [],
    );
    const distinct = [...new Map(own.map(({ set }) => [set.digest.toString('hex'), set])).values()];
    if (distinct.length === 0) continue;
    const stored = await keepRuleSets(tx, accountId, distinct);
    const byDigest = new Map(distinct.map(({ digest }, index) => [digest.toString('hex'), stored[index]!]));
    for (const { activity_id, set } of own) ids.set(activity_id, byDigest.get(set.digest.toString('hex'))!);
  }
  return ids;
}

function toVerdict({ run_id, computer_id, received_at, reading }: ReadReport, ruleSetId: number | null): AuditVerdict {
  const own = { runId: run_id, computerId: computer_id, reportedAt: received_at };
  if ('reason' in reading) return { ...failedFor(`The report of the audit was refused: ${reading.reason}.`), ...own };
  const { passed, failed } = countResults(reading.rules);
  const results = reading.rules.map(({ result }) => RULE_RESULTS[result]).join('');
  return { ...own, state: failed === 0 ? 'pass' : 'fail', reason: null, passed, failed, ruleSetId, results };
}

function failedFor(reason: string) {
  return { state: 'fail' as const, reason, passed: 0, failed: 0, ruleSetId: null, results: null };
}

function ruleSetOf(rules: readonly AuditedRule[]): CatalogueRuleSet {
  const entries = rules.map(toCatalogueRule);
  const hash = createHash('sha256');
  for (const { digest } of entries) hash.update(digest);
  return { digest: hash.digest(), rules: entries };
}

function toCatalogueRule({ result: _, ...rule }: AuditedRule): CatalogueRule {
  const { severity, title, identifiers, description, rationale } = rule;
  const text = JSON.stringify([rule.rule, severity, title, identifiers, description, rationale]);
  return { ...rule, digest: createHash('sha256').update(text).digest() };
}
