import { DomainError } from '../../domain/common/errors.ts';
import type { Origin } from '../../domain/events/events.ts';
import { isAddressTaken } from '../../persistence/database/errors.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import { insertPerson } from '../../persistence/identity/accounts.repository.ts';
import {
  claimInvitation,
  findInvitationBySecureId,
  type OpenInvitation,
} from '../../persistence/identity/invitations.repository.ts';
import { findLoginPerson, type LoginPerson } from '../../persistence/identity/logins.sql.ts';
import { isEmailTaken, isOwnEmail } from '../../persistence/identity/people.repository.ts';
import { lockRights } from '../../persistence/identity/rights.repository.ts';
import { addRoles, insertMembership } from '../../persistence/identity/roles.repository.ts';
import { emailTaken, readEmail } from '../common/fields.ts';
import type { LoginThrottle } from './login/login-throttle.ts';
import { hashPassword } from './login/passwords.ts';
import { planSession } from './login/sessions.ts';
import { record } from './record.ts';

/** Deletes it, once, and locks the account's rights. @throws UnknownInvitation; Forbidden for another address */
export async function consumeInvitation(tx: Sql, secureId: string, personId: number, now: Date) {
  const found = await findInvitationBySecureId(tx, secureId, now);
  if (!found) throw unknownInvitation();
  await lockRights(tx, found.account_id);
  const roleIds = await claimInvitation(tx, found.id);
  if (!roleIds) throw unknownInvitation();
  if (found.bound && !(await isOwnEmail(tx, personId, found.email))) {
    throw new DomainError('Forbidden', 'This invitation is for somebody with another email address');
  }
  return { ...found, roleIds };
}

/** Consumes an invitation: the person joins with its roles, or gets them in addition. As `consumeInvitation`. */
export async function acceptInvitation(
  tx: Sql,
  secureId: string,
  person: { personId: number; name: string; email: string; origin: Origin },
  now: Date,
): Promise<OpenInvitation> {
  const { personId, name, email } = person;
  const joined = await consumeInvitation(tx, secureId, personId, now);
  const accountId = joined.account_id;
  await insertMembership(tx, accountId, personId);
  await addRoles(tx, accountId, personId, joined.roleIds);
  const message = `${name} <${email}> accepted an invitation and is an administrator now`;
  await record(tx, { ...person, accountId }, 'Invitation', { id: joined.id, name }, message);
  return joined;
}

interface JoiningLogin {
  secureId: string;
  account: string | undefined;
  origin: Origin;
  now: Date;
}

/** For a person who is logging in. @throws UnknownInvitation; Forbidden when they are not in the requested account */
export async function joinByLogin(tx: Sql, person: LoginPerson, login: JoiningLogin): Promise<OpenInvitation> {
  const { secureId, account, now } = login;
  const joined = await acceptInvitation(tx, secureId, { ...person, ...login, personId: person.id }, now);
  if (account !== undefined) await planSession(tx, person, account);
  return joined;
}

/**
 * Creates the invited person with the address and the (normalised, checked) password of the login, atomically.
 * @throws {DomainError} InvalidParameter; DuplicateEmail, also for former addresses; UnknownInvitation, Forbidden
 */
export async function joinAsNewcomer(
  { db, throttle }: { db: Database; throttle: LoginThrottle },
  { name }: OpenInvitation,
  login: JoiningLogin & { email: string; password: string },
): Promise<{ person: LoginPerson; joined: OpenInvitation }> {
  const email = readEmail('body.email', login.email);
  if (await isEmailTaken(db, email, null)) throw emailTaken();
  const passwordHash = await hashPassword(login.password);
  return db.transaction(async (tx) => {
    const id = await insertPerson(tx, { email, name, passwordHash }, null).catch((error: unknown) => {
      throw isAddressTaken(error) ? emailTaken() : error;
    });
    await throttle.register(login.origin.address, tx);
    const person = (await findLoginPerson(tx, { id }))!;
    return { person, joined: await joinByLogin(tx, person, login) };
  });
}

/** The same error for ids that never existed and for used, rejected, withdrawn or expired invitations. */
export function unknownInvitation(): DomainError {
  return new DomainError('UnknownInvitation', 'There is no such invitation');
}
