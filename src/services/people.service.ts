import { unauthorized } from '../domain/errors.ts';
import { recordEvent } from '../persistence/repositories/events.repository.ts';
import {
  findMembership,
  findPerson,
  isEmailTaken,
  type PersonChange,
  type PersonRow,
  updatePerson,
} from '../persistence/repositories/people.repository.ts';
import type { Database, Sql } from '../persistence/sql.ts';
import { isAddressTaken } from '../persistence/violations.ts';
import type { Authenticator } from './authenticator.ts';
import { lockCaller } from './current-person.ts';
import { emailTaken, readEmail, readLine, readTimezone, refusedField } from './fields.ts';
import type { Caller, Clock, Mailer, TokenFacts } from './ports.ts';
import { sendWithinLimit } from './test-mail-limit.ts';

export interface PersonEdit {
  name?: string | null | undefined;
  email?: string | null | undefined;
  timezone?: string | null | undefined;
  /** Name of an account; null for none; absent: unchanged. */
  preferredAccount?: string | null | undefined;
}

export interface PeopleService {
  /** The person who calls, as they were when their rights were last read: at most seconds ago. */
  getSelf(caller: Caller): Promise<PersonRow>;
  /**
   * Changes what is given and not null.
   *
   * @throws {DomainError} InvalidParameter, DuplicateEmail
   * @see api-decisions 11.2
   */
  updateSelf(caller: Caller, edit: PersonEdit): Promise<PersonRow>;
  /** Sends a mail to the caller's own address. @throws {DomainError} MailQueueUnavailable, TooManyRequests */
  sendTestEmail(caller: Caller): Promise<void>;
}

export interface PeopleDeps {
  db: Database;
  clock: Clock;
  mailer: Mailer;
  authenticator: Pick<Authenticator, 'forget'>;
  publicUrl: string;
}

const TEST_SUBJECT = 'Test email from Flotilla';

export function createPeopleService(deps: PeopleDeps): PeopleService {
  // This object lives as long as the rights read with it count as fresh.
  const known = new WeakMap<TokenFacts, PersonRow>();
  return {
    async getSelf(caller) {
      const person = known.get(caller.token) ?? (await readSelf(deps.db, caller));
      known.set(caller.token, person);
      return person;
    },
    async updateSelf(caller, edit) {
      const person = await update(deps.db, caller, edit);
      deps.authenticator.forget({ personId: caller.personId });
      return person;
    },
    async sendTestEmail(caller) {
      const { email } = await readSelf(deps.db, caller);
      const text = `This is a test email, asked for at ${deps.publicUrl}.\n`;
      await sendWithinLimit(deps, caller.personId, () => deps.mailer.send({ to: email, subject: TEST_SUBJECT, text }));
    },
  };
}

async function readSelf(sql: Sql, caller: Caller): Promise<PersonRow> {
  const person = await findPerson(sql, caller.personId);
  if (!person) throw unauthorized();
  return person;
}

async function update(db: Database, caller: Caller, edit: PersonEdit): Promise<PersonRow> {
  const wanted = readEdit(edit);
  const { preferredAccount, ...fields } = wanted;
  try {
    return await db.transaction(async (tx) => {
      await lockCaller(tx, caller);
      const change: PersonChange = { ...fields };
      if (preferredAccount !== undefined) change.preferredAccountId = await accountOf(tx, caller, preferredAccount);
      if (fields.email !== undefined && (await isEmailTaken(tx, fields.email, caller.personId))) throw emailTaken();
      await updatePerson(tx, caller.personId, change);
      const person = await readSelf(tx, caller);
      const changed = Object.entries(wanted).flatMap(([key, value]) => (value === undefined ? [] : [WORDS[key]!]));
      await recordEvent(tx, caller, {
        entityType: 'Person',
        entityId: caller.personId,
        entityName: person.name,
        message: `Changed ${changed.join(', ') || 'nothing'} of the own person`,
      });
      return person;
    });
  } catch (error) {
    // Of two people who take one address at once, one gets here.
    throw isAddressTaken(error) ? emailTaken() : error;
  }
}

const WORDS: Record<string, string> = {
  name: 'name',
  email: 'email address',
  timezone: 'time zone',
  preferredAccount: 'preferred account',
};

function readEdit(edit: PersonEdit) {
  const read = <T>(value: string | null | undefined, as: (value: string) => T) =>
    value === undefined || value === null ? undefined : as(value);
  return {
    name: read(edit.name, (name) => readLine('body.name', name)),
    email: read(edit.email, (email) => readEmail('body.email', email)),
    timezone: read(edit.timezone, (timezone) => readTimezone('body.timezone', timezone)),
    preferredAccount: edit.preferredAccount,
  };
}

async function accountOf(tx: Sql, caller: Caller, name: string | null): Promise<number | null> {
  if (name === null) return null;
  const membership = await findMembership(tx, caller.personId, name);
  if (!membership) throw refusedField('body.preferred_account', 'must be the name of an account of this person');
  return membership.accountId;
}
