import type { Origin } from '../../../domain/events/events.ts';
import { insertPerson } from '../../../persistence/identity/accounts.repository.ts';
import type { OpenInvitation } from '../../../persistence/identity/invitations.repository.ts';
import { findLoginPerson, type LoginPerson } from '../../../persistence/identity/logins.repository.ts';
import { isEmailTaken } from '../../../persistence/identity/people.repository.ts';
import type { Database, Sql } from '../../../persistence/database/sql.ts';
import { isAddressTaken } from '../../../persistence/database/errors.ts';
import { emailTaken, readEmail } from '../../common/fields.ts';
import { acceptInvitation, type Joined, recordJoining } from '../joining.ts';
import type { LoginThrottle } from './login-throttle.ts';
import { hashPassword } from './passwords.ts';
import { planSession } from './sessions.ts';

interface JoiningLogin {
  secureId: string;
  account: string | undefined;
  origin: Origin;
  now: Date;
}

/**
 * Accepts an invitation for a person who has just logged in.
 * @param login.account - the requested account, which the person may join by this invitation
 * @throws {DomainError} UnknownInvitation; Forbidden when the person is not in the account
 * @see docs/api-conventions.md#login
 */
export function joinByLogin(db: Database, person: LoginPerson, login: JoiningLogin): Promise<Joined> {
  return db.transaction((tx) => join(tx, person, login));
}

/**
 * Atomically creates the invited person (address and password of the login) and accepts the invitation.
 * @param login.password - normalised and checked
 * @throws {DomainError} InvalidParameter; DuplicateEmail, also for former addresses; UnknownInvitation, Forbidden
 */
export async function joinAsNewcomer(
  { db, throttle }: { db: Database; throttle: LoginThrottle },
  invitation: OpenInvitation,
  login: JoiningLogin & { email: string; password: string },
): Promise<{ person: LoginPerson; joined: Joined }> {
  const email = readEmail('body.email', login.email);
  if (await isEmailTaken(db, email, null)) throw emailTaken();
  const passwordHash = await hashPassword(login.password);
  return db.transaction(async (tx) => {
    const id = await insertPerson(tx, { email, name: invitation.name, passwordHash }, null).catch((error: unknown) => {
      throw isAddressTaken(error) ? emailTaken() : error;
    });
    await throttle.register(login.origin.address, tx);
    const person = (await findLoginPerson(tx, { id }))!;
    return { person, joined: await join(tx, person, login) };
  });
}

async function join(tx: Sql, person: LoginPerson, login: JoiningLogin): Promise<Joined> {
  const { secureId, now } = login;
  const joined = await acceptInvitation(tx, { secureId, personId: person.id, now });
  if (login.account !== undefined) await planSession(tx, person, login.account);
  await recordJoining(
    tx,
    { personId: person.id, name: person.name, email: person.email, origin: login.origin },
    joined,
  );
  return joined;
}
