import { DomainError } from '../../domain/common/errors.ts';
import { STANDALONE_ACCOUNT } from '../../domain/identity/permissions.ts';
import type { AdministratorRow } from '../../persistence/identity/administration.sql.ts';
import { isEmailTaken, lockEmail, setEmail, takeEmailChange } from '../../persistence/identity/people.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { isAddressTaken } from '../../persistence/database/errors.ts';
import { digestSecret } from './login/access-keys.ts';
import { requireAdministrator } from './administrators.service.ts';
import { lockCaller } from './current-person.ts';
import { addressChangedMail, type MailOrigin } from './mails.ts';
import { emailTaken, readEmail } from '../common/fields.ts';
import type { Caller, Clock, Mailer } from '../common/ports.ts';
import { record } from './record.ts';
import { changeRights, type RightsChangeDeps } from './rights-change.ts';

export interface MailingDeps extends RightsChangeDeps, MailOrigin {
  clock: Clock;
  mailer: Mailer;
}

/** Completes requested changes of email addresses (`PeopleService.updateSelf`) and notifies the former address. */
export function createEmailChangesService(deps: MailingDeps) {
  const { db, clock, mailer, authenticator } = deps;
  return {
    /** By the mailed token. @throws UnknownEmailChange for a wrong, used or expired one; DuplicateEmail */
    async confirm(caller: Caller, token: string): Promise<void> {
      const by = { tokenDigest: digestSecret(token) };
      const former = await withEmailConflict(() =>
        db.transaction(async (tx) => {
          await lockCaller(tx, caller);
          return replaceEmail(tx, caller, { ...caller, by, now: clock.now() });
        }),
      );
      authenticator.invalidate({ personId: caller.personId });
      // Not awaited: a mail server may be slow, and the mailer logs failures.
      if (mailer.isOn) void mailer.send(addressChangedMail(former, deps)).catch(() => undefined);
    },
    /**
     * For the pending `email` of an administrator of `standalone`, where no mail is sent.
     * @throws {DomainError} Forbidden elsewhere; UnknownPerson, UnknownEmailChange, DuplicateEmail, InvalidParameter
     */
    async confirmFor(caller: Caller, personId: number, email: string): Promise<AdministratorRow> {
      const by = { email: readEmail('body.email', email) };
      if (mailer.isOn) {
        throw new DomainError(
          'Forbidden',
          'This deployment sends mail: the person confirms the address with the token mailed to it',
        );
      }
      const administrator = await withEmailConflict(() =>
        changeRights(deps, caller, async (tx) => {
          const { name } = await requireAdministrator(tx, caller.accountId, personId);
          if (caller.accountName !== STANDALONE_ACCOUNT) {
            throw new DomainError('Forbidden', `Only administrators of the account ${STANDALONE_ACCOUNT} may do this`);
          }
          await replaceEmail(tx, caller, { personId, name, by, now: clock.now() });
          return requireAdministrator(tx, caller.accountId, personId);
        }),
      );
      authenticator.invalidate({ personId });
      return administrator;
    },
  };
}

async function replaceEmail(
  tx: Sql,
  caller: Caller,
  of: { personId: number; name: string; by: { tokenDigest: Buffer } | { email: string }; now: Date },
): Promise<string> {
  const { personId, name, by, now } = of;
  const former = await lockEmail(tx, personId);
  const email = await takeEmailChange(tx, personId, by, now);
  if (email === null) {
    throw new DomainError('UnknownEmailChange', 'No change of address with this token is pending');
  }
  if (await isEmailTaken(tx, email, personId)) throw emailTaken();
  await setEmail(tx, personId, email);
  const message = `Changed the email address of ${name} from ${former} to ${email}, which was confirmed`;
  await record(tx, caller, 'Person', { id: personId, name }, message);
  return former;
}

/** Handles two people who claim the same address concurrently. */
async function withEmailConflict<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isAddressTaken(error) ? emailTaken() : error;
  }
}
