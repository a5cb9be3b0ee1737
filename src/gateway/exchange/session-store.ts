import { isDatabaseAway } from '../../persistence/database/availability.ts';
import type { Database } from '../../persistence/database/sql.ts';
import type { Clock } from '../../services/common/ports.ts';
import { Batcher, type Outcome } from '../http/batcher.ts';
import { type ExchangeWrite, isPlain, writeExchanges } from './exchange-writer.ts';
import { type Identified, readSessions } from './session-reader.ts';
import type { SessionWritten } from './session-writer.ts';

const BATCH = 64;
/** Agents exchange every quarter of an hour or after a ping; what they would notice is seconds. */
const GATHER_MS = 10;
const MAX_WAITING = 50_000;

/** Sessions of agents, those of many agents together when many come at once. */
export interface SessionStore {
  read(secureIdHash: Buffer): Promise<Identified | null>;
  /** Writes an exchange in one transaction, perhaps with others: one with little to save, or it would hold them up. */
  write(write: ExchangeWrite): Promise<SessionWritten | null>;
}

/** @param onBatch - told how many calls each statement carried out */
export function createSessionStore(
  db: Database,
  clock: Clock,
  onBatch: (batch: string, size: number) => void,
): SessionStore {
  const limits = { size: BATCH, running: 1, waiting: MAX_WAITING, gatherMs: GATHER_MS };
  const accounts = new Accounts();
  const read = async (hashes: Buffer[]) => {
    onBatch('read', hashes.length);
    const identified = await readSessions(db, hashes, clock.now());
    for (const [i, found] of identified.entries()) accounts.note(hashes[i]!, found);
    return identified.map((value) => ({ value }));
  };
  const reads = new Batcher<Buffer, Identified | null>(read, limits, (hash) => accounts.of(hash));
  const write = (items: ExchangeWrite[]) => {
    onBatch('write', items.length);
    return writeEach(db, items);
  };
  const writes = new Batcher<ExchangeWrite, SessionWritten | null>(
    write,
    { ...limits, running: 2 },
    ({ session }) => session.accountId,
  );
  return { read: (hash) => reads.call(hash), write: (write) => writes.call(write) };
}

const REMEMBERED = 200_000;
/** Agents nobody has heard of lately take turns as one account. */
const UNKNOWN = 0;

/** Whose computers exchanged lately: accounts take turns before anything of an exchange is read. */
class Accounts {
  readonly #known = new Map<string, number>();

  of(hash: Buffer): number {
    return this.#known.get(hash.toString('latin1')) ?? UNKNOWN;
  }

  note(hash: Buffer, found: Identified | null): void {
    if (found?.kind !== 'computer') return;
    const key = hash.toString('latin1');
    if (this.#known.has(key)) return;
    if (this.#known.size >= REMEMBERED) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(key, found.session.accountId);
  }
}

/** One write that the database cannot take must not fail the others. */
async function writeEach(db: Database, items: readonly ExchangeWrite[]): Promise<Outcome<SessionWritten | null>[]> {
  try {
    return (await writeTogether(db, items)).map((value) => ({ value }));
  } catch (error) {
    if (items.length === 1 || isDatabaseAway(error)) throw error;
  }
  const outcomes: Outcome<SessionWritten | null>[] = [];
  for (const item of items) {
    const [outcome] = await writeEach(db, [item]).catch((error: unknown) => [{ error }]);
    outcomes.push(outcome!);
  }
  return outcomes;
}

function writeTogether(db: Database, items: readonly ExchangeWrite[]): Promise<Array<SessionWritten | null>> {
  return items.every(isPlain) ? writeExchanges(db, items) : db.transaction((tx) => writeExchanges(tx, items));
}
