import { LRUCache } from 'lru-cache';
import type { IntervalsState } from '../../domain/agents/intervals.ts';
import type { ResyncState, Session } from '../../domain/agents/session.ts';
import { recordSuspectedClones, type SuspectedClone } from '../../persistence/agents/clones.sql.ts';
import { type SavedExchange, type SessionWrite, saveSessions } from '../../persistence/agents/exchanges.sql.ts';
import { claimIdentities } from '../../persistence/agents/identities.sql.ts';
import { saveIntervals } from '../../persistence/agents/intervals.sql.ts';
import { requestPackageResync, saveResyncs } from '../../persistence/agents/rejected-messages.sql.ts';
import { type Identified, readSessions } from '../../persistence/agents/sessions.sql.ts';
import { needsSnapState, saveSnapsBeforeSent } from '../../persistence/agents/snap-states.sql.ts';
import { isDatabaseUnavailable } from '../../persistence/database/errors.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import { Batcher } from '../../process/admission/batcher.ts';
import type { Clock } from '../../services/common/ports.ts';
import { type Reported, saveFacts } from '../facts/save-facts.ts';
import { tooManyAtOnce } from '../http/response.ts';

const BATCH_SIZE = 64;
/** Short compared with the 15 minutes between exchanges of an agent. */
const GATHER_MS = 10;
const MAX_WAITING = 50_000;
const MAX_CACHED_ACCOUNTS = 200_000;
const UNKNOWN_ACCOUNT = 0;

export interface ExchangeWrite extends SessionWrite {
  session: Session;
  secureIdHash: Buffer;
  reported: Reported | null;
  resync: ResyncState | null;
  /** Null if unchanged. */
  intervals: IntervalsState | null;
  suspicion: SuspectedClone | null;
}

export interface ExchangeStore {
  readSession(secureIdHash: Buffer): Promise<Identified | null>;
  /** For exchanges with little to save; others would delay those that share their transaction. */
  saveExchange(write: ExchangeWrite): Promise<SavedExchange | null>;
}

/** @param onBatch - called with the size of each batch */
export function createExchangeStore(
  db: Database,
  clock: Clock,
  onBatch: (batch: string, size: number) => void,
): ExchangeStore {
  const limits = { size: BATCH_SIZE, maxQueued: MAX_WAITING, gatherMs: GATHER_MS };
  // Accounts take turns also before an exchange is identified, as far as they are known from the last one.
  // `max` would allocate space for all of them at once.
  const accounts = new LRUCache<string, number>({ maxSize: MAX_CACHED_ACCOUNTS, sizeCalculation: () => 1 });
  const readAll = async (hashes: Buffer[]) => {
    onBatch('read', hashes.length);
    const identified = await readSessions(db, hashes, clock.now());
    for (const [i, found] of identified.entries()) {
      if (found?.kind === 'computer') accounts.set(hashes[i]!.toString('latin1'), found.session.accountId);
    }
    return identified;
  };
  const saveAll = (writes: ExchangeWrite[]) => {
    onBatch('write', writes.length);
    return saveEach(db, writes);
  };
  const reads = new Batcher(readAll, { ...limits, concurrency: 1 }, tooManyAtOnce);
  const writes = new Batcher(saveAll, { ...limits, concurrency: 2 }, tooManyAtOnce);
  return {
    readSession: (hash) => reads.call(accounts.get(hash.toString('latin1')) ?? UNKNOWN_ACCOUNT, hash),
    saveExchange: (write) => writes.call(write.session.accountId, write),
  };
}

type Outcome = SavedExchange | null | Error;

/** An exchange that the database rejects must not fail the others. */
async function saveEach(db: Database, writes: readonly ExchangeWrite[]): Promise<Outcome[]> {
  try {
    return await saveTogether(db, writes);
  } catch (error) {
    if (writes.length === 1 || isDatabaseUnavailable(error)) throw error;
  }
  const outcomes: Outcome[] = [];
  for (const write of writes) {
    const [outcome] = await saveEach(db, [write]).catch((error: Error): Outcome[] => [error]);
    outcomes.push(outcome!);
  }
  return outcomes;
}

function saveTogether(db: Database, writes: readonly ExchangeWrite[]): Promise<Array<SavedExchange | null>> {
  return writes.every(isSingleStatement)
    ? saveExchanges(db, writes)
    : db.transaction((tx) => saveExchanges(tx, writes));
}

/** Whether {@link saveExchanges} needs only one statement, and therefore no transaction. */
function isSingleStatement(write: ExchangeWrite): boolean {
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
