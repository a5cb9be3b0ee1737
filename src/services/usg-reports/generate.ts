import { dayRange } from '../../domain/usg/report.ts';
import type { FileDraft } from '../../persistence/repositories/stored-files.repository.ts';
import {
  type ReportedRuns,
  type ReportRow,
  type RunsState,
  readKeptSince,
  readReportRows,
  readRuleSet,
  readRunsState,
} from '../../persistence/repositories/usg-report-rows.ts';
import type { UsgReportQuestion } from '../../persistence/repositories/usg-reports.repository.ts';
import type { Database, Sql } from '../../persistence/sql.ts';
import type { DraftFile, FileStore } from '../ports.ts';
import { DETAILED_COLUMNS, detailedLines, ruleCells, SUMMARY_COLUMNS, summaryRecord, toLines } from './csv.ts';

export interface ReportWriter {
  db: Database;
  files: FileStore;
}

/** How somebody follows the writing of a report. */
export interface WritingWatch {
  /** Called between pieces. @param share - 0 to 1, of the computers that have been written. @throws to end it */
  onPiece(share: number): Promise<void>;
}

/** A report that nobody can find yet, and how the runs stood that it tells of. */
export interface WrittenReport {
  file: DraftFile;
  state: RunsState;
}

/** Text is collected to pieces of about so many characters. */
const PIECE_LENGTH = 128 * 1024;

/**
 * Writes the report that answers a question: every run in its range as they all stand at one moment.
 *
 * @param activityId - that writes it; null when a request does
 * @throws what `watch` throws
 * @remarks Bounded memory, whatever the size. Nobody finds the file before it is published; one that is not written to
 * its end leaves nothing.
 */
export async function writeReport(
  { db, files }: ReportWriter,
  question: UsgReportQuestion,
  { activityId, now, watch }: { activityId: number | null; now: Date; watch: WritingWatch },
): Promise<WrittenReport> {
  const { account_id: accountId, profile_id: profileId } = question;
  const facts: FileDraft = { accountId, kind: 'report', profileId, activityId, creationTime: now };
  return db.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read');
    const file = await files.draft(tx, facts);
    const runs = { ...question, kept_since: await readKeptSince(tx, accountId, now) };
    const state = await readRunsState(tx, runs);
    let piece = '';
    let written = 0;
    for await (const { text, computers } of reportText(tx, runs, question.detailed)) {
      piece += text;
      written += computers;
      if (piece.length < PIECE_LENGTH) continue;
      await file.append(Buffer.from(piece));
      piece = '';
      await watch.onPiece(state.computers === 0 ? 0 : Math.min(1, written / state.computers));
    }
    await file.append(Buffer.from(piece));
    return { file, state };
  });
}

interface ReportText {
  text: string;
  /** Computers that it completes. */
  computers: number;
}

async function* reportText(tx: Sql, runs: ReportedRuns, isDetailed: boolean): AsyncGenerator<ReportText> {
  yield { text: toLines([isDetailed ? DETAILED_COLUMNS : SUMMARY_COLUMNS]), computers: 0 };
  const rules = new RuleSets(tx);
  for await (const rows of readReportRows(tx, runs, isDetailed)) {
    if (!isDetailed) yield { text: toLines(rows.map(summaryRecord)), computers: rows.length };
    else for (const row of rows) yield { text: await linesOf(runs.profile_id, row, rules), computers: 1 };
  }
}

async function linesOf(profileId: number, row: ReportRow, rules: RuleSets): Promise<string> {
  return detailedLines(profileId, row, await rules.read(row.rule_set_id!), dayRange(row.started_at).label);
}

/** Computers of one release share their rules; the cells of the latest sets are kept. */
class RuleSets {
  readonly #tx: Sql;
  readonly #sets = new Map<number, string[]>();

  constructor(tx: Sql) {
    this.#tx = tx;
  }

  async read(id: number): Promise<string[]> {
    const known = this.#sets.get(id);
    if (known) return known;
    const cells = (await readRuleSet(this.#tx, id)).map(ruleCells);
    if (this.#sets.size >= KEPT_SETS) this.#sets.delete(this.#sets.keys().next().value!);
    this.#sets.set(id, cells);
    return cells;
  }
}

const KEPT_SETS = 20;
