import { isDatabaseAway } from '../../persistence/availability.ts';
import type { Database } from '../../persistence/sql.ts';
import type { Clock } from '../../services/ports.ts';
import type { ProcessDelta } from '../facts/deltas.ts';
import { saveProcesses } from '../facts/processes.ts';
import { Batcher, type Outcome } from '../http/batcher.ts';
import { type Identified, readSessions } from './session-reader.ts';
import { type SessionWrite, type SessionWritten, writeSessions } from './session-writer.ts';

const BATCH = 64;
const MAX_WAITING = 50_000;

/** An exchange of the everyday kind: counters and results, and what changed among the computer's processes. */
export interface LightWrite extends SessionWrite {
  processes: ProcessDelta | null;
}

/** Sessions of agents, those of many agents by one statement when many come at once. */
export interface SessionStore {
  read(secureIdHash: Buffer): Promise<Identified | null>;
  /** Writes an exchange that has nothing else to save, in one transaction, perhaps with others. */
  write(write: LightWrite): Promise<SessionWritten | null>;
}

export function createSessionStore(db: Database, clock: Clock): SessionStore {
  const limits = { size: BATCH, running: 1, waiting: MAX_WAITING };
  const read = async (hashes: Buffer[]) => (await readSessions(db, hashes, clock.now())).map((value) => ({ value }));
  const reads = new Batcher<Buffer, Identified | null>(read, limits);
  const writes = new Batcher<LightWrite, SessionWritten | null>((items) => writeEach(db, items), {
    ...limits,
    running: 2,
  });
  return { read: (hash) => reads.call(hash), write: (write) => writes.call(write) };
}

/** One write that the database cannot take must not fail the others. */
async function writeEach(db: Database, items: readonly LightWrite[]): Promise<Outcome<SessionWritten | null>[]> {
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

async function writeTogether(db: Database, items: readonly LightWrite[]): Promise<Array<SessionWritten | null>> {
  if (items.every((item) => item.processes === null)) return writeSessions(db, items);
  return db.transaction(async (tx) => {
    const written = await writeSessions(tx, items);
    const changes = items.flatMap(({ session, processes }, i) =>
      written[i] && processes ? [{ computerId: session.computerId, delta: processes }] : [],
    );
    if (changes.length > 0) await saveProcesses(tx, changes);
    return written;
  });
}
