import { DomainError } from '../../domain/common/errors.ts';
import type { Origin } from '../../domain/events/events.ts';
import { addRoles, insertMembership } from '../../persistence/identity/administrators.repository.ts';
import { recordEvent } from '../../persistence/events/events.sql.ts';
import {
  findInvitationBySecureId,
  isOpenTo,
  claimInvitation,
} from '../../persistence/identity/invitations.repository.ts';
import { lockRights } from '../../persistence/identity/rights.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';

export interface Joined {
  invitationId: number;
  accountId: number;
  accountName: string;
  accountTitle: string;
}

/**
 * Consumes an invitation: the person joins with its roles, or gets them in addition. One of concurrent calls succeeds.
 * @param tx - holds the lock on the account's rights from then on
 * @throws {DomainError} UnknownInvitation when it does not exist any more; Forbidden when it is for another address
 */
export async function acceptInvitation(
  tx: Sql,
  { secureId, personId, now }: { secureId: string; personId: number; now: Date },
): Promise<Joined> {
  const found = await findInvitationBySecureId(tx, secureId, now);
  if (!found) throw unknownInvitation();
  await lockRights(tx, found.account_id);
  await requireOpenTo(tx, found.id, personId);
  const taken = await claimInvitation(tx, found.id);
  if (!taken) throw unknownInvitation();
  await insertMembership(tx, found.account_id, personId);
  await addRoles(tx, found.account_id, personId, taken.roleIds);
  return {
    invitationId: found.id,
    accountId: found.account_id,
    accountName: found.account_name,
    accountTitle: found.account_title,
  };
}

export async function recordJoining(
  tx: Sql,
  person: { personId: number; name: string; email: string; origin: Origin },
  joined: Joined,
): Promise<void> {
  const { accountId, invitationId } = joined;
  await recordEvent(
    tx,
    { ...person, accountId },
    {
      entityType: 'Invitation',
      entityId: invitationId,
      entityName: person.name,
      message: `${person.name} <${person.email}> accepted an invitation and is an administrator now`,
    },
  );
}

/** @throws {DomainError} Forbidden when the invitation is for another person's address, UnknownInvitation */
export async function requireOpenTo(sql: Sql, invitationId: number, personId: number): Promise<void> {
  const isOpen = await isOpenTo(sql, invitationId, { personId });
  if (isOpen === null) throw unknownInvitation();
  if (isOpen) return;
  throw new DomainError('Forbidden', 'This invitation is for somebody with another email address');
}

/** The same error for ids that never existed and for used, rejected, withdrawn or expired invitations. */
export function unknownInvitation(): DomainError {
  return new DomainError('UnknownInvitation', 'There is no such invitation');
}
