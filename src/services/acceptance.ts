import { approveComputers } from '../persistence/repositories/pending-computers.repository.ts';
import type { Sql } from '../persistence/sql.ts';

/** Computers of one account that become part of its fleet. */
export interface Acceptance {
  accountId: number;
  computerIds: readonly number[];
  /** Where they go instead of where they asked to be; null: where they are. */
  accessGroupId: number | null;
  now: Date;
}

/**
 * Makes pending computers part of the fleet: the only way in, whether an administrator accepts them or the account
 * registers them by itself. What has to happen after an enrolment happens here, in the same transaction.
 *
 * @remarks Computers that are not pending stay as they are. Agents learn of it at their next exchange, and a ping sends
 * them there.
 * @see api-decisions 13; agent-protocol 6
 */
export async function acceptComputers(tx: Sql, acceptance: Acceptance): Promise<void> {
  await approveComputers(tx, acceptance.computerIds, acceptance.accessGroupId, acceptance.now);
}
