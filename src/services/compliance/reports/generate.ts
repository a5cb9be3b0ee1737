import { LRUCache } from 'lru-cache';
import { dayRange } from '../../../domain/compliance/report.ts';
import {
  type ReportedRuns,
  type RunsState,
  readKeptSince,
  readReportRows,
  readRuleSet,
  readRunsState,
} from '../../../persistence/compliance/usg-report-rows.sql.ts';
import type { UsgReportKey } from '../../../persistence/compliance/usg-reports.sql.ts';
import type { Database, Sql } from '../../../persistence/database/sql.ts';
import type { Clock, DraftFile, FileStore } from '../../common/ports.ts';
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

export interface ReportDeps {
  db: Database;
  clock: Clock;
  files: FileStore;
}

/** Rule sets whose lines are kept: computers of one release share them. */
const MAX_CACHED_SETS = 20;

export interface WrittenReport {
  file: DraftFile;
  state: RunsState;
}

/** From one snapshot, in bounded memory, unpublished. `onChunk` gets the share done, 0 to 1; may throw to abort. */
export async function writeReport(
  { db, files, clock }: ReportDeps,
  key: UsgReportKey,
  { activityId, onChunk }: { activityId: number | null; onChunk?: (share: number) => Promise<void> },
): Promise<WrittenReport> {
  const { account_id: accountId, profile_id: profileId } = key;
  const now = clock.now();
  const write = async (tx: Sql) => {
    const file = await files.draft(tx, { accountId, kind: 'report', profileId, activityId, creationTime: now });
    const runs = { ...key, kept_since: await readKeptSince(tx, accountId, now) };
    const state = await readRunsState(tx, runs);
    const chunks = new ChunkBuffer((piece) => file.append(piece));
    let written = 0;
    for await (const computers of writeRows(tx, runs, key.detailed, chunks)) {
      written += computers;
      if (!chunks.isFull) continue;
      await chunks.flush();
      await onChunk?.(state.computers === 0 ? 0 : Math.min(1, written / state.computers));
    }
    await chunks.flush();
    return { file, state };
  };
  return db.transaction(write, { isolationLevel: 'repeatable read' });
}

async function* writeRows(
  tx: Sql,
  runs: ReportedRuns,
  isDetailed: boolean,
  chunks: ChunkBuffer,
): AsyncGenerator<number> {
  chunks.addText(toLines([isDetailed ? DETAILED_COLUMNS : SUMMARY_COLUMNS]));
  const rules = new LRUCache<number, RuleCells>({
    max: MAX_CACHED_SETS,
    fetchMethod: async (id) => {
      const cells = (await readRuleSet(tx, id)).map(ruleCells);
      return { cells, bytes: cells.reduce((sum, { length }) => sum + length, 0) };
    },
  });
  for await (const rows of readReportRows(tx, runs, isDetailed)) {
    if (isDetailed) {
      for (const row of rows) {
        const { label } = dayRange(row.started_at);
        const cells = await rules.forceFetch(row.rule_set_id!);
        writeDetailedLines(chunks, row, cells, { profileId: runs.profile_id, label });
        yield 1;
      }
    } else {
      chunks.addText(rows.map(summaryLine).join(''));
      yield rows.length;
    }
  }
}
