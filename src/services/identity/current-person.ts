import { unauthorized } from '../../domain/common/errors.ts';
import { type LockedPerson, lockPerson } from '../../persistence/identity/rights.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import type { Caller } from '../common/ports.ts';

/** Locks the row before changes and new credentials: cached rights may be old. @throws Unauthorized when revoked */
export async function lockCaller(tx: Sql, caller: Caller): Promise<LockedPerson> {
  const { personId, accountName } = caller;
  const { id, family, accessKey, epochs } = caller.token;
  const person = await lockPerson(tx, { personId, accountName, tokenIds: [id, family], accessKey });
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
