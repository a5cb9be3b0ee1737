import { type PingedComputer, readPings } from '../../persistence/agents/contacts.repository.ts';
import type { Database } from '../../persistence/database/sql.ts';
import type { Clock } from '../../services/common/ports.ts';
import { isOtherNetwork } from '../exchange/suspected-clones.ts';

export type PingStatus = 'messages' | 'nothing' | 'unknown';

export interface PingResult {
  status: PingStatus;
  /** The ping comes from another network than the computer's last exchange, or names no computer. */
  isFromOtherNetwork: boolean;
}

/** Pings that arrive within this time share a query; agents ping every 30 seconds. */
const GATHER_MS = 25;
const MAX_BATCH = 2000;

interface Batch {
  ids: Set<number>;
  rows: Promise<ReadonlyMap<number, PingedComputer>>;
}

/** Looks up the computers of many pings in one query. */
export class PingHandler {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #onBatch: (batch: string, size: number) => void;
  #batch: Batch | null = null;

  /** @param onBatch - called with the number of pings of each query */
  constructor(db: Database, clock: Clock, onBatch: (batch: string, size: number) => void) {
    this.#onBatch = onBatch;
    this.#db = db;
    this.#clock = clock;
  }

  /** Whether the computer should exchange messages soon. @see docs/agent-protocol.md#pings-and-timing */
  async handle(computerId: number, address: string): Promise<PingResult> {
    this.#batch ??= this.#openBatch();
    const batch = this.#batch;
    batch.ids.add(computerId);
    if (batch.ids.size >= MAX_BATCH) this.#batch = null;
    const row = (await batch.rows).get(computerId);
    if (!row) return { status: 'unknown', isFromOtherNetwork: true };
    return {
      status: row.waiting ? 'messages' : 'nothing',
      isFromOtherNetwork: isOtherNetwork(row.lastAddress, address),
    };
  }

  #openBatch(): Batch {
    const ids = new Set<number>();
    const rows = new Promise<void>((resolve) => setTimeout(resolve, GATHER_MS)).then(() => {
      if (this.#batch?.ids === ids) this.#batch = null;
      return this.#read([...ids]);
    });
    return { ids, rows };
  }

  async #read(ids: readonly number[]): Promise<ReadonlyMap<number, PingedComputer>> {
    this.#onBatch('ping', ids.length);
    const rows = await readPings(this.#db, ids, this.#clock.now());
    return new Map(rows.map((row) => [row.id, row]));
  }
}
