import { DomainError } from '../../domain/common/errors.ts';
import { recordEvent } from '../../persistence/events/events.sql.ts';
import { readMessageBacklog, setMessageBacklog } from '../../persistence/activities/message-backlog.repository.ts';
import type { Database } from '../../persistence/database/sql.ts';
import type { Caller } from '../common/ports.ts';

/** The account's limit on messages waiting for one computer. @see docs/api-conventions.md#message-backlog */
export type MessageBacklogService = ReturnType<typeof createMessageBacklogService>;

export function createMessageBacklogService({ db }: { db: Database }) {
  const change = (caller: Caller, bound: number | null): Promise<void> =>
    db.transaction(async (tx) => {
      const before = await setMessageBacklog(tx, caller.accountId, bound);
      if (bound === null && before === null) return;
      await recordEvent(tx, caller, {
        entityType: 'MessageBacklogSetting',
        entityId: null,
        entityName: caller.accountName,
        message: messageOf(before, bound),
      });
    });
  return {
    /** @throws {DomainError} NoMessageBacklogSetting when there is no limit */
    async read(caller: Caller): Promise<number> {
      const bound = await readMessageBacklog(db, caller.accountId);
      if (bound === null) throw new DomainError('NoMessageBacklogSetting', 'No message backlog limit is set');
      return bound;
    },
    /** Sets the limit, effective immediately for all unsent messages, oldest first. 0 holds back all of them. */
    async set(caller: Caller, bound: number): Promise<number> {
      await change(caller, bound);
      return bound;
    },
    /** Removes the limit and releases all waiting operations. Idempotent. */
    clear: (caller: Caller) => change(caller, null),
  };
}

function messageOf(before: number | null, after: number | null): string {
  const done = after === null ? 'Removed the message backlog limit' : `Set the message backlog limit to ${after}`;
  return `${done}; ${before === null ? 'there was none' : `it was ${before}`}`;
}
