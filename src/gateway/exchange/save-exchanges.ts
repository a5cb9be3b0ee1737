import type { IntervalsState } from '../../domain/agents/intervals.ts';
import type { ResyncState, Session } from '../../domain/agents/session.ts';
import { recordSuspectedClones, type SuspectedClone } from '../../persistence/agents/clones.sql.ts';
import { type SavedExchange, type SessionWrite, saveSessions } from '../../persistence/agents/exchanges.sql.ts';
import { claimIdentities } from '../../persistence/agents/identities.sql.ts';
import { saveIntervals } from '../../persistence/agents/intervals.sql.ts';
import { requestPackageResync, saveResyncs } from '../../persistence/agents/rejected-messages.sql.ts';
import { needsSnapState, saveSnapsBeforeSent } from '../../persistence/agents/snap-states.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { type Reported, saveFacts } from '../facts/save-facts.ts';

export interface ExchangeWrite extends SessionWrite {
  session: Session;
  secureIdHash: Buffer;
  reported: Reported | null;
  resync: ResyncState | null;
  /** Null if unchanged. */
  intervals: IntervalsState | null;
  suspicion: SuspectedClone | null;
}

/** Whether {@link saveExchanges} needs only one statement, and therefore no transaction. */
export function isSingleStatement(write: ExchangeWrite): boolean {
  const { session, reported, resync, intervals, suspicion } = write;
  const parts = [reported, resync, intervals, suspicion];
  const hasMore = parts.some((part) => part !== null) || snapOperations(write).length > 0;
  return session.inNext !== null && !hasMore;
}

function snapOperations({ change: { sends } }: ExchangeWrite): number[] {
  return sends.flatMap(({ activityId, messageType }) => (needsSnapState(messageType) ? [activityId] : []));
}

/** Runs in the caller's transaction. Null in place of each exchange that conflicts: nothing of it is saved. */
export async function saveExchanges(
  tx: Sql,
  writes: readonly ExchangeWrite[],
  save: (tx: Sql, reports: readonly Reported[]) => Promise<Set<number>> = saveFacts,
): Promise<Array<SavedExchange | null>> {
  const saved = await saveSessions(tx, writes);
  const done = writes.filter((_, i) => saved[i] !== null);
  const suspicions = done.flatMap(({ suspicion }) => suspicion ?? []);
  if (suspicions.length > 0) await recordSuspectedClones(tx, suspicions);
  const firsts = done.filter(({ session }) => session.inNext === null);
  if (firsts.length > 0) await claimIdentities(tx, firsts);
  const resyncs = done.flatMap(({ session, resync }) => (resync ? [{ computerId: session.computerId, resync }] : []));
  if (resyncs.length > 0) await saveResyncs(tx, resyncs);
  const intervals = done.flatMap(({ session: { computerId }, intervals: state }) =>
    state ? [{ computerId, ...state }] : [],
  );
  if (intervals.length > 0) await saveIntervals(tx, intervals);
  const reports = done.flatMap(({ reported }) => (reported === null ? [] : [reported]));
  if (reports.length > 0) await requestPackageResync(tx, await save(tx, reports));
  // An agent that never got an operation may have reported other snaps since.
  const resends = done.flatMap(({ change, reported }) => (reported?.facts.snaps ? change.resends : []));
  const operations = [...done.flatMap(snapOperations), ...resends];
  if (operations.length > 0) await saveSnapsBeforeSent(tx, operations);
  return saved;
}
