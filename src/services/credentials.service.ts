import { DomainError } from '../domain/errors.ts';
import { listAccessKeys, replaceAccessKey } from '../persistence/repositories/access-keys.repository.ts';
import { recordEvent } from '../persistence/repositories/events.repository.ts';
import { findMembership } from '../persistence/repositories/people.repository.ts';
import type { Database } from '../persistence/sql.ts';
import { digestSecret, newAccessKey } from './access-keys.ts';
import { lockCaller } from './current-person.ts';
import type { Caller } from './ports.ts';

export interface Credential {
  accountName: string;
  accountTitle: string;
  /** Null while there is no pair. */
  accessKey: string | null;
  /** Only known when the pair is made. */
  secretKey: string | null;
}

export interface CredentialsService {
  /** The person's accounts with their access keys; secrets are stored as digests and never shown again. */
  list(caller: Caller): Promise<Credential[]>;
  /**
   * Makes the person's pair for an account, in place of the one there was.
   *
   * @throws {DomainError} Forbidden for an account the person is not in
   * @see api-decisions 3.2, 12.1
   */
  regenerate(caller: Caller, accountName: string): Promise<Credential>;
}

export function createCredentialsService(deps: { db: Database }): CredentialsService {
  return {
    async list(caller) {
      const rows = await listAccessKeys(deps.db, caller.personId);
      return rows.map((row) => ({ ...row, secretKey: null }));
    },
    regenerate: (caller, accountName) =>
      deps.db.transaction(async (tx) => {
        await lockCaller(tx, caller);
        const account = await findMembership(tx, caller.personId, accountName);
        if (!account) throw new DomainError('Forbidden', 'This person does not belong to that account');
        const { accessKey, secretKey } = newAccessKey();
        const { accountId, title } = account;
        await replaceAccessKey(tx, {
          accountId,
          personId: caller.personId,
          accessKey,
          secretDigest: digestSecret(secretKey),
        });
        await recordEvent(
          tx,
          { ...caller, accountId },
          {
            entityType: 'Credentials',
            entityId: caller.personId,
            entityName: caller.name,
            message: 'Made new access keys',
          },
        );
        return { accountName, accountTitle: title, accessKey, secretKey };
      }),
  };
}
