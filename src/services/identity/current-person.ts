import { unauthorized } from '../../domain/common/errors.ts';
import { type LockedPerson, lockPerson } from '../../persistence/identity/people.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import type { Caller } from '../common/ports.ts';

/**
 * Locks the caller's row, for changes of the person and for issuing new credentials: a token revoked in the last seconds
 * must not do either, although cached rights may still allow reads.
 * @throws {DomainError} Unauthorized when the token has been ended
 */
export async function lockCaller(tx: Sql, caller: Caller): Promise<LockedPerson> {
  const { accountName } = caller;
  const { id, family, accessKey, epochs } = caller.token;
  const person = await lockPerson(tx, caller.personId, { ids: [id, family], accountName, accessKey });
  if (
    !person ||
    person.token_revoked ||
    person.token_epoch !== epochs.person ||
    person.system_epoch !== epochs.system ||
    (accountName !== '' && person.account_epoch !== epochs.account)
  ) {
    throw unauthorized();
  }
  return person;
}
