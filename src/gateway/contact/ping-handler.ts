import type { Database } from '../../persistence/database/sql.ts';
import { isDue } from '../../persistence/query/delivery-conditions.ts';
import type { Clock } from '../../services/common/ports.ts';
import { isOtherNetwork } from '../exchange/suspected-clones.ts';

export type PingStatus = 'messages' | 'nothing' | 'unknown';

export interface PingResult {
  status: PingStatus;
  /** The ping comes from another network than the computer's last exchange, or names no computer. */
  isFromOtherNetwork: boolean;
}

interface PingRow extends Record<string, unknown> {
  id: number;
  waiting: boolean;
  last_address: string | null;
}

/** Pings that arrive within this time share a query; agents ping every 30 seconds. */
const GATHER_MS = 25;
const MAX_BATCH = 2000;

interface Batch {
  ids: Set<number>;
  rows: Promise<ReadonlyMap<number, PingRow>>;
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
      isFromOtherNetwork: isOtherNetwork(row.last_address, address),
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

  async #read(ids: readonly number[]): Promise<ReadonlyMap<number, PingRow>> {
    this.#onBatch('ping', ids.length);
    const rows = await this.#db.query<PingRow>(READ, [ids, this.#clock.now()], 'gateway-read-pings');
    return new Map(rows.map((row) => [row.id, row]));
  }
}

// A computer approved since its last exchange must receive the new list of accepted types.
const READ = `
  select c.id, s.last_address, c.state = 'approved' and not c.archived and not ac.disabled and (
    (s.in_next is not null and not s.served_approved)
    or (m.due and (ac.max_message_backlog is null or ac.max_message_backlog > m.sent))) as waiting
  from computer c join agent s on s.computer_id = c.id join account ac on ac.id = c.account_id
  cross join lateral (
    select coalesce(bool_or(${isDue('$2')}), false) as due, count(*) filter (where m.state = 'sent') as sent
    from agent_message m where m.computer_id = c.id and m.state in ('held', 'queued', 'sent')) m
  where c.id = any($1::int[])`;
