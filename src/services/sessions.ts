import { DomainError } from '../domain/errors.ts';
import {
  findLoginAccounts,
  type LoginAccount,
  type LoginPerson,
} from '../persistence/repositories/logins.repository.ts';
import type { Sql } from '../persistence/sql.ts';
import type { TokenSigner } from './token-signer.ts';

export interface LoginResult {
  token: string;
  email: string;
  name: string;
  accounts: Array<{ name: string; title: string; default: boolean }>;
  /** Empty for a person without account. */
  currentAccount: string;
}

export const DEFAULT_EXPIRY_MINUTES = 1440;

/** A person's accounts and the one that a token is to be for. */
export interface SessionPlan {
  accounts: readonly LoginAccount[];
  current: LoginAccount | undefined;
}

/**
 * Chooses the current account: the one asked for, else the preferred one, else the first joined, else none.
 *
 * @throws {DomainError} Forbidden when the person is not in the one asked for
 * @see api-decisions 3.1
 */
export async function planSession(sql: Sql, person: LoginPerson, account: string | undefined): Promise<SessionPlan> {
  const accounts = await findLoginAccounts(sql, person.id);
  return { accounts, current: chooseAccount(person, accounts, account) };
}

/** Issues the token of a planned session. @param minutes - lifetime */
export function openSession(
  tokenSigner: TokenSigner,
  person: LoginPerson,
  plan: SessionPlan,
  token: { minutes: number | undefined; systemEpoch: number },
): LoginResult {
  const { current } = plan;
  const epochs = {
    person: person.token_epoch,
    account: current?.token_epoch ?? 0,
    system: token.systemEpoch,
    membership: current?.membership,
  };
  const identity = { personId: person.id, email: person.email, accountName: current?.name ?? '', epochs };
  return describeSession(person, plan, tokenSigner.issue(identity, token.minutes ?? DEFAULT_EXPIRY_MINUTES));
}

/** What a login answers, for a token there is. */
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

function chooseAccount(
  person: LoginPerson,
  accounts: readonly LoginAccount[],
  wanted: string | undefined,
): LoginAccount | undefined {
  if (wanted !== undefined) {
    const account = accounts.find(({ name }) => name === wanted);
    if (!account) throw new DomainError('Forbidden', 'This person does not belong to that account');
    return account;
  }
  return accounts.find(({ id }) => id === person.preferred_account_id) ?? accounts[0];
}
