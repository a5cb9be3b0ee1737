import type { SavedExchange } from '../../persistence/agents/exchanges.repository.ts';
import { type Identified, readSessions } from '../../persistence/agents/sessions.repository.ts';
import { isDatabaseUnavailable } from '../../persistence/database/errors.ts';
import type { Database } from '../../persistence/database/sql.ts';
import type { Clock } from '../../services/common/ports.ts';
import { Batcher, type BatchOutcome } from '../http/batcher.ts';
import { type ExchangeWrite, isSingleStatement, saveExchanges } from './save-exchanges.ts';

const BATCH_SIZE = 64;
/** Short compared with the 15 minutes between exchanges of an agent. */
const GATHER_MS = 10;
const MAX_WAITING = 50_000;

/** Reads sessions and saves exchanges, in one statement or transaction for many agents. */
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
  const limits = { size: BATCH_SIZE, concurrency: 1, maxWaiting: MAX_WAITING, gatherMs: GATHER_MS };
  const accounts = new AccountCache();
  const readAll = async (hashes: Buffer[]) => {
    onBatch('read', hashes.length);
    const identified = await readSessions(db, hashes, clock.now());
    for (const [i, found] of identified.entries()) accounts.add(hashes[i]!, found);
    return identified.map((value) => ({ value }));
  };
  const saveAll = (writes: ExchangeWrite[]) => {
    onBatch('write', writes.length);
    return saveEach(db, writes);
  };
  const reads = new Batcher<Buffer, Identified | null>(readAll, limits, (hash) => accounts.find(hash));
  const writes = new Batcher<ExchangeWrite, SavedExchange | null>(
    saveAll,
    { ...limits, concurrency: 2 },
    ({ session }) => session.accountId,
  );
  return { readSession: (hash) => reads.call(hash), saveExchange: (write) => writes.call(write) };
}

const MAX_CACHED_ACCOUNTS = 200_000;
/** All agents that are not cached share one queue. */
const UNKNOWN_ACCOUNT = 0;

/** Accounts of recent agents: reads are served round-robin by account, before an exchange is identified. */
class AccountCache {
  readonly #accounts = new Map<string, number>();

  find(hash: Buffer): number {
    return this.#accounts.get(hash.toString('latin1')) ?? UNKNOWN_ACCOUNT;
  }

  add(hash: Buffer, found: Identified | null): void {
    if (found?.kind !== 'computer') return;
    const key = hash.toString('latin1');
    if (this.#accounts.has(key)) return;
    if (this.#accounts.size >= MAX_CACHED_ACCOUNTS) this.#accounts.delete(this.#accounts.keys().next().value!);
    this.#accounts.set(key, found.session.accountId);
  }
}

/** An exchange that the database rejects must not fail the others. */
async function saveEach(db: Database, writes: readonly ExchangeWrite[]): Promise<BatchOutcome<SavedExchange | null>[]> {
  try {
    return (await saveTogether(db, writes)).map((value) => ({ value }));
  } catch (error) {
    if (writes.length === 1 || isDatabaseUnavailable(error)) throw error;
  }
  const outcomes: BatchOutcome<SavedExchange | null>[] = [];
  for (const write of writes) {
    const [outcome] = await saveEach(db, [write]).catch((error: unknown) => [{ error }]);
    outcomes.push(outcome!);
  }
  return outcomes;
}

function saveTogether(db: Database, writes: readonly ExchangeWrite[]): Promise<Array<SavedExchange | null>> {
  return writes.every(isSingleStatement)
    ? saveExchanges(db, writes)
    : db.transaction((tx) => saveExchanges(tx, writes));
}
