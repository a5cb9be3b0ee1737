import { type Contact, writeContacts, writeUnknownTypes } from '../../persistence/agents/contacts.sql.ts';
import type { Database } from '../../persistence/database/sql.ts';
import type { Logger } from '../../process/logger.ts';

const FLUSH_MS = 1000;
/** Agents choose these names, so their number is limited. */
const MAX_UNKNOWN_TYPES = 1000;
const OTHER = '(other)';

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

  /** Counts a message of an unknown type; beyond 1,000 types, under `(other)`. */
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

  /** Stops the timer and writes what is left. Never rejects. */
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
      if (contacts.size > 0) await writeContacts(this.#db, contacts);
    } catch (error) {
      this.#logger.warn({ err: error }, 'could not save the times of contact; will retry');
      for (const [id, contact] of contacts) this.#restore(id, contact);
    }
    try {
      if (types.size > 0) await writeUnknownTypes(this.#db, types, { other: OTHER, max: MAX_UNKNOWN_TYPES });
    } catch (error) {
      this.#logger.warn({ err: error }, 'could not save the counts of unknown message types; will retry');
      for (const [type, count] of types) this.#unknownTypes.set(type, (this.#unknownTypes.get(type) ?? 0) + count);
    }
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
