import type { Database } from '../../persistence/database/sql.ts';
import type { Logger } from '../../process/logger.ts';

const FLUSH_MS = 1000;
/** Agents choose these names, so their number is limited. */
const MAX_UNKNOWN_TYPES = 1000;
const OTHER = '(other)';

interface Contact {
  ping: Date | null;
  exchange: Date | null;
}

/** Buffers contact times and counts of unknown types for one commit a second. A crash loses at most the last second. */
export class ContactBuffer {
  readonly #db: Database;
  readonly #logger: Logger;
  #contacts = new Map<number, Contact>();
  #unknownTypes = new Map<string, number>();
  #flushing: Promise<void> | null = null;
  readonly #timer: NodeJS.Timeout;

  constructor(db: Database, logger: Logger) {
    this.#db = db;
    this.#logger = logger;
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS);
    this.#timer.unref();
  }

  pinged(computerId: number, at: Date): void {
    this.#contact(computerId).ping = at;
  }

  exchanged(computerId: number, at: Date): void {
    this.#contact(computerId).exchange = at;
  }

  unknownType(type: string): void {
    const known = this.#unknownTypes.has(type) || this.#unknownTypes.size < MAX_UNKNOWN_TYPES;
    const name = known ? type : OTHER;
    this.#unknownTypes.set(name, (this.#unknownTypes.get(name) ?? 0) + 1);
  }

  /** Writes the buffer. Never rejects: after an error the entries stay for the next flush. */
  async flush(): Promise<void> {
    while (this.#flushing) await this.#flushing;
    this.#flushing = this.#write().finally(() => {
      this.#flushing = null;
    });
    await this.#flushing;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  async #write(): Promise<void> {
    const contacts = this.#contacts;
    const types = this.#unknownTypes;
    this.#contacts = new Map();
    this.#unknownTypes = new Map();
    try {
      if (contacts.size > 0) await this.#writeContacts(contacts);
    } catch (error) {
      this.#logger.warn({ err: error }, 'could not save the times of contact; will retry');
      for (const [id, contact] of contacts) this.#restore(id, contact);
    }
    try {
      if (types.size > 0) await this.#writeTypes(types);
    } catch (error) {
      this.#logger.warn({ err: error }, 'could not save the counts of unknown message types; will retry');
      for (const [type, count] of types) this.#unknownTypes.set(type, (this.#unknownTypes.get(type) ?? 0) + count);
    }
  }

  // Rows are locked in the order of the arrays, so that gateways do not deadlock. If PostgreSQL chooses another order
  // and they do, one of them retries a second later.
  async #writeContacts(contacts: ReadonlyMap<number, Contact>): Promise<void> {
    const rows = [...contacts].sort(([a], [b]) => a - b);
    await this.#db.query(
      WRITE_CONTACTS,
      [rows.map(([id]) => id), rows.map(([, contact]) => contact.ping), rows.map(([, contact]) => contact.exchange)],
      'gateway-write-contacts',
    );
  }

  async #writeTypes(types: ReadonlyMap<string, number>): Promise<void> {
    const rows = [...types].sort(([a], [b]) => (a < b ? -1 : 1));
    await this.#db.query(
      WRITE_TYPES,
      [rows.map(([type]) => type), rows.map(([, count]) => count), OTHER, MAX_UNKNOWN_TYPES],
      'gateway-write-types',
    );
  }

  #contact(computerId: number): Contact {
    let contact = this.#contacts.get(computerId);
    if (!contact) {
      contact = { ping: null, exchange: null };
      this.#contacts.set(computerId, contact);
    }
    return contact;
  }

  #restore(computerId: number, earlier: Contact): void {
    const contact = this.#contact(computerId);
    contact.ping ??= earlier.ping;
    contact.exchange ??= earlier.exchange;
  }
}

const WRITE_CONTACTS = `
  update computer_contact c
  set last_ping_time = greatest(c.last_ping_time, v.ping), last_exchange_time = greatest(c.last_exchange_time, v.exchange)
  from unnest($1::int[], $2::timestamptz[], $3::timestamptz[]) v(id, ping, exchange)
  where c.computer_id = v.id`;

const WRITE_TYPES = `
  insert into agent_unknown_type as known (type, seen, last_seen_at)
  select v.type, sum(v.seen), now() from (
    select case when (select count(*) from agent_unknown_type) < $4
      or exists (select from agent_unknown_type k where k.type = u.type) then u.type else $3 end as type, u.seen
    from unnest($1::text[], $2::bigint[]) u(type, seen)
  ) v group by v.type
  on conflict (type) do update set seen = known.seen + excluded.seen, last_seen_at = excluded.last_seen_at`;
