import { DAY_MS } from '../../domain/common/durations.ts';
import { unauthorized } from '../../domain/common/errors.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import {
  deleteEmailChange,
  findMembership,
  findPerson,
  isEmailTaken,
  isOwnEmail,
  type PersonChange,
  type PersonRow,
  saveEmailChange,
  updateEmailCase,
  updatePerson,
} from '../../persistence/identity/people.repository.ts';
import { emailTaken, fieldError, readEmail, readLine, readTimezone } from '../common/fields.ts';
import type { Caller, TokenFacts } from '../common/ports.ts';
import { lockCaller } from './current-person.ts';
import { listPermissions } from './group-rights.ts';
import { digestSecret, newToken } from './login/access-keys.ts';
import type { MailingDeps } from './email-changes.service.ts';
import { reserveMail } from './mail-budget.ts';
import { confirmationMail } from './mails.ts';
import { record } from './record.ts';

export interface PersonEdit {
  name?: string | null | undefined;
  email?: string | null | undefined;
  timezone?: string | null | undefined;
  /** Account name; null: none; absent: unchanged. */
  preferredAccount?: string | null | undefined;
}

const CONFIRMATION_MS = DAY_MS;
const TEST_SUBJECT = 'Test email from Flotilla';

export type PeopleService = ReturnType<typeof createPeopleService>;

export function createPeopleService(deps: MailingDeps) {
  // The key object lives as long as the rights read with it are cached.
  const known = new WeakMap<TokenFacts, PersonRow>();
  const read = (caller: Caller) => readSelf(deps.db, caller, deps.clock.now());
  return {
    /** The caller as of the last read of their rights, at most seconds ago. */
    async getSelf(caller: Caller): Promise<PersonRow> {
      const person = known.get(caller.token) ?? (await read(caller));
      known.set(caller.token, person);
      return person;
    },
    readSelf: read,
    getPermissions: (caller: Caller) => listPermissions(deps.db, caller),
    /**
     * A new address is pending until confirmed; another case of the current one applies at once.
     * @throws {DomainError} InvalidParameter, DuplicateEmail, TooManyRequests; MailQueueUnavailable, without change
     */
    async updateSelf(caller: Caller, edit: PersonEdit): Promise<PersonRow> {
      const person = await update(deps, caller, edit);
      deps.authenticator.invalidate({ personId: caller.personId });
      return person;
    },
    /** Sends a mail to the caller's own address. @throws {DomainError} MailQueueUnavailable, TooManyRequests */
    async sendTestEmail(caller: Caller): Promise<void> {
      const { email } = await read(caller);
      const text = `This is a test email, requested at ${deps.publicUrl}.\n`;
      const send = await reserveMail(deps, caller.personId);
      await send({ to: email, subject: TEST_SUBJECT, text });
    },
  };
}

async function readSelf(sql: Sql, caller: Caller, now: Date): Promise<PersonRow> {
  const person = await findPerson(sql, caller.personId, now);
  if (!person) throw unauthorized();
  return person;
}

async function update(deps: MailingDeps, caller: Caller, edit: PersonEdit): Promise<PersonRow> {
  const { email, preferredAccount, ...fields } = readEdit(edit);
  if (preferredAccount !== undefined) await accountOf(deps.db, caller, preferredAccount);
  const change = email === undefined ? null : await prepareEmail(deps, caller, email);
  return deps.db.transaction(async (tx) => {
    await lockCaller(tx, caller);
    const changed: PersonChange = { ...fields };
    if (preferredAccount !== undefined) changed.preferredAccount = await accountOf(tx, caller, preferredAccount);
    await updatePerson(tx, caller.personId, changed);
    if (change) await storeEmail(tx, caller, change);
    const person = await readSelf(tx, caller, deps.clock.now());
    const words = Object.entries({ ...fields, preferredAccount }).flatMap(([key, value]) =>
      value === undefined ? [] : [WORDS[key]!],
    );
    const wanted = change && 'pending' in change ? `, and requested ${change.pending.email} as email address` : '';
    const message = `Changed ${words.join(', ') || 'nothing'} of the own person${wanted}`;
    await record(tx, caller, 'Person', { id: caller.personId, name: person.name }, message);
    return person;
  });
}

type RequestedEmail = { corrected: string } | { pending: Parameters<typeof saveEmailChange>[2] };

/** Mails the token. @throws DuplicateEmail, TooManyRequests, MailQueueUnavailable; nothing is stored then */
async function prepareEmail(deps: MailingDeps, caller: Caller, email: string): Promise<RequestedEmail> {
  if (await isOwnEmail(deps.db, caller.personId, email)) return { corrected: email };
  const send = await reserveMail(deps, caller.personId);
  if (await isEmailTaken(deps.db, email, caller.personId)) throw emailTaken();
  const expiresAt = new Date(deps.clock.now().getTime() + CONFIRMATION_MS);
  if (!deps.mailer.isOn) return { pending: { email, tokenDigest: null, expiresAt } };
  const token = newToken();
  await send(confirmationMail(email, token, deps));
  return { pending: { email, tokenDigest: digestSecret(token), expiresAt } };
}

async function storeEmail(tx: Sql, { personId }: Caller, wish: RequestedEmail): Promise<void> {
  if ('pending' in wish) return saveEmailChange(tx, personId, wish.pending);
  await deleteEmailChange(tx, personId);
  await updateEmailCase(tx, personId, wish.corrected);
}

const WORDS: Record<string, string> = {
  name: 'name',
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

async function accountOf(sql: Sql, caller: Caller, name: string | null): Promise<number | null> {
  if (name === null) return null;
  const membership = await findMembership(sql, caller.personId, name);
  if (!membership) throw fieldError('body.preferred_account', 'must be the name of an account of this person');
  return membership.accountId;
}
