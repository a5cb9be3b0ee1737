import { DomainError } from '../../../domain/common/errors.ts';
import { findLoginAccounts, type LoginAccount, type LoginPerson } from '../../../persistence/identity/logins.sql.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import type { AuthMethod } from '../../common/ports.ts';
import type { TokenSigner } from './token-signer.ts';

export interface LoginResult {
  token: string;
  email: string;
  name: string;
  accounts: Array<{ name: string; title: string; default: boolean }>;
  /** Empty for a person without an account. */
  currentAccount: string;
}

/** A new session. */
export type OpenedSession = LoginResult & {
  /** Until the token expires. */
  lifeSeconds: number;
};

const DEFAULT_EXPIRY_MINUTES = 1440;

interface SessionPlan {
  accounts: readonly LoginAccount[];
  current: LoginAccount | undefined;
}

/** The requested, preferred or first joined account, or none. @throws Forbidden when not in the requested one */
export async function planSession(sql: Sql, person: LoginPerson, account: string | undefined): Promise<SessionPlan> {
  const accounts = await findLoginAccounts(sql, person.id);
  return { accounts, current: chooseAccount(person, accounts, account) };
}

export interface NewSession {
  method: AuthMethod;
  /** The access key used for the login; its tokens do not outlive it. */
  accessKey: { id: string; expiresAt: Date | null } | null;
  minutes: number | undefined;
  systemEpoch: number;
  now: Date;
}

/** Issues a token; stores nothing. */
export function openSession(
  tokenSigner: TokenSigner,
  person: LoginPerson,
  plan: SessionPlan,
  session: NewSession,
): OpenedSession {
  const { current } = plan;
  const { method, accessKey } = session;
  const epochs = {
    person: person.token_epoch,
    account: current?.token_epoch ?? 0,
    system: session.systemEpoch,
    membership: current?.membership,
  };
  const accountName = current?.name ?? '';
  const identity = { personId: person.id, email: person.email, accountName, epochs, method };
  const expiresAt = expiryOf(session);
  const token = tokenSigner.issue({ ...identity, accessKey: accessKey?.id ?? null }, { expiresAt });
  return { ...describeSession(person, plan, token), lifeSeconds: secondsUntil(expiresAt, session.now) };
}

/** Seconds since the epoch. */
function expiryOf({ accessKey, minutes = DEFAULT_EXPIRY_MINUTES, now }: NewSession): number {
  const wanted = Math.floor(now.getTime() / 1000) + minutes * 60;
  const keyEnds = accessKey?.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
  return Math.min(wanted, Math.floor(keyEnds / 1000));
}

/** @param expiresAt - seconds since the epoch */
export function secondsUntil(expiresAt: number, now: Date): number {
  return expiresAt - Math.floor(now.getTime() / 1000);
}

/** The response of a login, for an existing token. */
export function describeSession(person: LoginPerson, { accounts, current }: SessionPlan, token: string): LoginResult {
  const preferred = chooseAccount(person, accounts, undefined);
  return {
    token,
    email: person.email,
    name: person.name,
    accounts: accounts.map(({ name, title }) => ({ name, title, default: name === preferred?.name })),
    currentAccount: current?.name ?? '',
  };
}

function chooseAccount(person: LoginPerson, accounts: readonly LoginAccount[], wanted: string | undefined) {
  if (wanted !== undefined) {
    const account = accounts.find(({ name }) => name === wanted);
    if (!account) throw new DomainError('Forbidden', 'This person does not belong to that account');
    return account;
  }
  return accounts.find(({ id }) => id === person.preferred_account_id) ?? accounts[0];
}
