import { type PingedComputer, readPings } from '../../persistence/agents/contacts.sql.ts';
import type { Database } from '../../persistence/database/sql.ts';
import { Batcher } from '../../process/admission/batcher.ts';
import type { Clock } from '../../services/common/ports.ts';
import { isOtherNetwork } from '../exchange/suspected-clones.ts';

export type PingStatus = 'messages' | 'nothing' | 'unknown';

export interface PingResult {
  status: PingStatus;
  /** The ping comes from another network than the computer's last exchange, or names no computer. */
  isFromOtherNetwork: boolean;
}

/** Pings that arrive within this time share a query; agents ping every 30 seconds. */
const LIMITS = { gatherMs: 25, size: 2000, concurrency: 2 };

/** Answers pings; concurrent ones share a query. */
export class PingHandler {
  readonly #rows: Batcher<number, PingedComputer | null>;

  constructor(db: Database, clock: Clock, onBatch: (batch: string, size: number) => void) {
    const read = async (ids: readonly number[]): Promise<Array<PingedComputer | null>> => {
      onBatch('ping', ids.length);
      const rows = await readPings(db, ids, clock.now());
      const byId = new Map(rows.map((row) => [row.id, row]));
      return ids.map((id) => byId.get(id) ?? null);
    };
    this.#rows = new Batcher(read, LIMITS);
  }

  /** Whether the computer should exchange messages soon. @see docs/agent-protocol.md#pings-and-timing */
  async handle(computerId: number, address: string): Promise<PingResult> {
    const row = await this.#rows.call('', computerId);
    if (!row) return { status: 'unknown', isFromOtherNetwork: true };
    return {
      status: row.waiting ? 'messages' : 'nothing',
      isFromOtherNetwork: isOtherNetwork(row.lastAddress, address),
    };
  }
}
