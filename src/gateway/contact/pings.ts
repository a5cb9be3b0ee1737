import type { Database } from '../../persistence/database/sql.ts';
import { isDue } from '../../persistence/query/delivery-conditions.ts';
import type { Clock } from '../../services/common/ports.ts';
import { isElsewhere } from '../exchange/doubts.ts';

/** What a ping is answered. */
export type PingAnswer = 'messages' | 'nothing' | 'unknown';

/** What is known of the computer that a ping names. */
export interface Pinged {
  answer: PingAnswer;
  /** The ping comes from another network than the computer's last exchange, or names no computer. */
  isElsewhere: boolean;
}

interface PingRow extends Record<string, unknown> {
  id: number;
  waiting: boolean;
  last_address: string | null;
}

/** Pings that come within this time are looked up together; agents ping every half minute. */
const GATHER_MS = 25;
const MAX_BATCH = 2000;

interface Batch {
  ids: Set<number>;
  answers: Promise<ReadonlyMap<number, PingRow>>;
}

/** Answers pings, many by one query. */
export class PingDesk {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #onBatch: (batch: string, size: number) => void;
  #batch: Batch | null = null;

  /** @param onBatch - told how many pings each query answered */
  constructor(db: Database, clock: Clock, onBatch: (batch: string, size: number) => void) {
    this.#onBatch = onBatch;
    this.#db = db;
    this.#clock = clock;
  }

  /** Tells whether the computer should exchange messages soon. @see docs/agent-protocol.md#pings-and-timing */
  async answer(computerId: number, address: string): Promise<Pinged> {
    this.#batch ??= this.#open();
    const batch = this.#batch;
    batch.ids.add(computerId);
    if (batch.ids.size >= MAX_BATCH) this.#batch = null;
    const found = (await batch.answers).get(computerId);
    if (!found) return { answer: 'unknown', isElsewhere: true };
    return {
      answer: found.waiting ? 'messages' : 'nothing',
      isElsewhere: isElsewhere(found.last_address, address),
    };
  }

  #open(): Batch {
    const ids = new Set<number>();
    const answers = new Promise<void>((resolve) => setTimeout(resolve, GATHER_MS)).then(() => {
      if (this.#batch?.ids === ids) this.#batch = null;
      return this.#look([...ids]);
    });
    return { ids, answers };
  }

  async #look(ids: readonly number[]): Promise<ReadonlyMap<number, PingRow>> {
    this.#onBatch('ping', ids.length);
    const rows = await this.#db.query<PingRow>(LOOK, [ids, this.#clock.now()], 'gateway-look-pings');
    return new Map(rows.map((row) => [row.id, row]));
  }
}

// A computer approved since its last exchange has to learn what it may send now.
const LOOK = `
  select c.id, s.last_address, c.state = 'approved' and not c.archived and not ac.disabled and (
    (s.in_next is not null and not s.served_approved)
    or (m.due and (ac.max_message_backlog is null or ac.max_message_backlog > m.sent))) as waiting
  from computer c join agent s on s.computer_id = c.id join account ac on ac.id = c.account_id
  cross join lateral (
    select coalesce(bool_or(${isDue('$2')}), false) as due, count(*) filter (where m.state = 'sent') as sent
    from agent_message m where m.computer_id = c.id and m.state in ('held', 'queued', 'sent')) m
  where c.id = any($1::int[])`;
