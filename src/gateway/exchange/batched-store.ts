import { LRUCache } from 'lru-cache';
import type { SavedExchange } from '../../persistence/agents/exchanges.sql.ts';
import { type Identified, readSessions } from '../../persistence/agents/sessions.sql.ts';
import { isDatabaseUnavailable } from '../../persistence/database/errors.ts';
import type { Database } from '../../persistence/database/sql.ts';
import { Batcher } from '../../process/admission/batcher.ts';
import type { Clock } from '../../services/common/ports.ts';
import { tooManyAtOnce } from '../http/response.ts';
import { type ExchangeWrite, isSingleStatement, saveExchanges } from './save-exchanges.ts';

const BATCH_SIZE = 64;
/** Short compared with the 15 minutes between exchanges of an agent. */
const GATHER_MS = 10;
const MAX_WAITING = 50_000;
const MAX_CACHED_ACCOUNTS = 200_000;
const UNKNOWN_ACCOUNT = 0;

export interface BatchedStore {
  readSession(secureIdHash: Buffer): Promise<Identified | null>;
  /** For exchanges with little to save; others would delay those that share their transaction. */
  saveExchange(write: ExchangeWrite): Promise<SavedExchange | null>;
}

/** @param onBatch - called with the size of each batch */
export function createBatchedStore(
  db: Database,
  clock: Clock,
  onBatch: (batch: string, size: number) => void,
): BatchedStore {
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
