import { dayRange } from '../../../domain/compliance/report.ts';
import type { FileDraft } from '../../../persistence/compliance/stored-files.repository.ts';
import {
  type ReportedRuns,
  type RunsState,
  readKeptSince,
  readReportRows,
  readRuleSet,
  readRunsState,
} from '../../../persistence/compliance/usg-report-rows.ts';
import type { UsgReportKey } from '../../../persistence/compliance/usg-reports.repository.ts';
import type { Database, Sql } from '../../../persistence/database/sql.ts';
import { readOneSnapshot } from '../../../persistence/database/transactions.ts';
import type { DraftFile, FileStore } from '../../common/ports.ts';
import { ChunkBuffer } from './chunk-buffer.ts';
import {
  DETAILED_COLUMNS,
  type RuleCells,
  ruleCells,
  SUMMARY_COLUMNS,
  summaryLine,
  toLines,
  writeDetailedLines,
} from './csv.ts';

export interface ReportWriter {
  db: Database;
  files: FileStore;
}

export interface WriteObserver {
  /** Called between chunks. @param share - 0 to 1, of the computers that have been written. @throws to abort */
  onChunk(share: number): Promise<void>;
}

/** An unpublished report, with the state of its runs. */
export interface WrittenReport {
  file: DraftFile;
  state: RunsState;
}

/**
 * Writes a report from one snapshot of all runs in its range, in bounded memory. It is not accessible until it is
 * published; an aborted one leaves nothing behind.
 * @param activityId - of the activity that writes it; null for a request
 * @throws errors of `watch`
 */
export async function writeReport(
  { db, files }: ReportWriter,
  key: UsgReportKey,
  { activityId, now, watch }: { activityId: number | null; now: Date; watch: WriteObserver },
): Promise<WrittenReport> {
  const { account_id: accountId, profile_id: profileId } = key;
  const facts: FileDraft = { accountId, kind: 'report', profileId, activityId, creationTime: now };
  return db.transaction(async (tx) => {
    await readOneSnapshot(tx);
    const file = await files.draft(tx, facts);
    const runs = { ...key, kept_since: await readKeptSince(tx, accountId, now) };
    const state = await readRunsState(tx, runs);
    const chunks = new ChunkBuffer((piece) => file.append(piece));
    let written = 0;
    for await (const computers of writeRows(tx, runs, key.detailed, chunks)) {
      written += computers;
      if (!chunks.isFull) continue;
      await chunks.flush();
      await watch.onChunk(state.computers === 0 ? 0 : Math.min(1, written / state.computers));
    }
    await chunks.flush();
    return { file, state };
  });
}

/** Yields how many computers each step completes. */
async function* writeRows(
  tx: Sql,
  runs: ReportedRuns,
  isDetailed: boolean,
  chunks: ChunkBuffer,
): AsyncGenerator<number> {
  chunks.addText(toLines([isDetailed ? DETAILED_COLUMNS : SUMMARY_COLUMNS]));
  const rules = new RuleSetCache(tx);
  for await (const rows of readReportRows(tx, runs, isDetailed)) {
    if (isDetailed) {
      for (const row of rows) {
        const { label } = dayRange(row.started_at);
        writeDetailedLines(chunks, row, await rules.read(row.rule_set_id!), { profileId: runs.profile_id, label });
        yield 1;
      }
    } else {
      chunks.addText(rows.map(summaryLine).join(''));
      yield rows.length;
    }
  }
}

/** Caches the latest rule sets, which computers of one release share. */
class RuleSetCache {
  readonly #tx: Sql;
  readonly #sets = new Map<number, RuleCells>();

  constructor(tx: Sql) {
    this.#tx = tx;
  }

  async read(id: number): Promise<RuleCells> {
    const known = this.#sets.get(id);
    if (known) return known;
    const cells = (await readRuleSet(this.#tx, id)).map(ruleCells);
    const set = { cells, bytes: cells.reduce((sum, { length }) => sum + length, 0) };
    if (this.#sets.size >= MAX_CACHED_SETS) this.#sets.delete(this.#sets.keys().next().value!);
    this.#sets.set(id, set);
    return set;
  }
}

const MAX_CACHED_SETS = 20;
