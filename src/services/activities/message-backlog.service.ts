import { DomainError } from '../../domain/common/errors.ts';
import { recordEvent } from '../../persistence/events/events.repository.ts';
import { readMessageBacklog, setMessageBacklog } from '../../persistence/activities/message-backlog.repository.ts';
import type { Database } from '../../persistence/database/sql.ts';
import type { Caller } from '../common/ports.ts';

/** The account's limit on messages waiting for one computer. @see docs/api-conventions.md#message-backlog */
export interface MessageBacklogService {
  /** @throws {DomainError} NoMessageBacklogSetting when there is no limit */
  read(caller: Caller): Promise<number>;
  /** Sets the limit, effective immediately for all undelivered messages, oldest first. 0 holds back all of them. */
  set(caller: Caller, bound: number): Promise<number>;
  /** Removes the limit and releases all waiting operations. Idempotent. */
  clear(caller: Caller): Promise<void>;
}

export function createMessageBacklogService(deps: { db: Database }): MessageBacklogService {
  const change = (caller: Caller, bound: number | null): Promise<void> =>
    deps.db.transaction(async (tx) => {
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
    async read(caller) {
      const bound = await readMessageBacklog(deps.db, caller.accountId);
      if (bound === null) throw new DomainError('NoMessageBacklogSetting', 'No message backlog limit is set');
      return bound;
    },
    async set(caller, bound) {
      await change(caller, bound);
      return bound;
    },
    clear: (caller) => change(caller, null),
  };
}

function messageOf(before: number | null, after: number | null): string {
  const was = before === null ? 'there was none' : `it was ${before}`;
  return after === null
    ? `Removed the message backlog limit; ${was}`
    : `Set the message backlog limit to ${after}; ${was}`;
}
