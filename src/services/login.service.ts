import { availableParallelism } from 'node:os';
import { DomainError } from '../domain/errors.ts';
import {
  findLoginAccounts,
  findLoginPerson,
  type LoginAccount,
  type LoginPerson,
  recordLogin,
} from '../persistence/repositories/logins.repository.ts';
import type { Database } from '../persistence/sql.ts';
import { BoundedQueue } from './bounded-queue.ts';
import { digestName, LoginThrottle } from './login-throttle.ts';
import { normalisePassword, verifyPassword } from './passwords.ts';
import type { Clock } from './ports.ts';
import type { Tokens } from './tokens.ts';

export interface LoginCommand {
  by: { email: string } | { identity: string };
  password: string;
  /** Account to become current; undefined for the preferred or first joined one. */
  account: string | undefined;
  invitationId: string | undefined;
  expiryMinutes: number | undefined;
  /** Network address of the client. */
  address: string;
}

export interface LoginResult {
  token: string;
  email: string;
  name: string;
  accounts: Array<{ name: string; title: string; default: boolean }>;
  /** Empty for a person without account. */
  currentAccount: string;
}

export interface LoginService {
  /**
   * Exchanges a name and password for a token.
   *
   * @throws {DomainError} AuthenticationFailed for an unknown name and a wrong password alike; Forbidden for an account
   * the person is not in; UnknownInvitation; TooManyRequests and ServiceUnavailable with a time to wait
   * @see api-decisions 3.1
   */
  login(command: LoginCommand): Promise<LoginResult>;
}

const DEFAULT_EXPIRY_MINUTES = 1440;
/** A waiting login costs no memory to speak of; past this many the wait is longer than a client's patience. */
const MAX_WAITING = 64;

/** The one queue of password hashes. A core stays free for everything else: a hash costs 20 ms of it and 19 MiB. */
export function createHashingQueue(): BoundedQueue {
  return new BoundedQueue({ concurrency: Math.max(1, availableParallelism() - 1), maxWaiting: MAX_WAITING });
}

export function createLoginService(deps: {
  db: Database;
  tokens: Tokens;
  clock: Clock;
  hashing: BoundedQueue;
}): LoginService {
  const throttle = new LoginThrottle(deps.db, deps.clock);

  async function authenticate(command: LoginCommand, nameDigest: Buffer, password: string): Promise<LoginPerson> {
    await throttle.check(nameDigest, command.address);
    const person = await findLoginPerson(deps.db, command.by);
    if (!(await verifyPassword(password, person?.password_hash ?? null))) {
      await throttle.fail(nameDigest, command.address);
      throw new DomainError('AuthenticationFailed', 'The name or the password is wrong');
    }
    return person!;
  }

  return {
    async login(command) {
      const password = normalisePassword(command.password);
      const nameDigest = digestName('email' in command.by ? command.by.email : command.by.identity);
      const person = await deps.hashing.run(() => authenticate(command, nameDigest, password));
      const accounts = await findLoginAccounts(deps.db, person.id);
      const current = chooseAccount(person, accounts, command.account);
      if (command.invitationId !== undefined) {
        throw new DomainError('UnknownInvitation', 'There is no such invitation');
      }
      const at = deps.clock.now();
      const { systemEpoch } = await recordLogin(deps.db, {
        personId: person.id,
        nameDigest,
        address: command.address,
        at,
      });
      const epochs = { person: person.token_epoch, account: current?.token_epoch ?? 0, system: systemEpoch };
      const identity = { personId: person.id, email: person.email, accountName: current?.name ?? '', epochs };
      const preferred = chooseAccount(person, accounts, undefined);
      return {
        token: deps.tokens.issue(identity, command.expiryMinutes ?? DEFAULT_EXPIRY_MINUTES),
        email: person.email,
        name: person.name,
        accounts: accounts.map(({ name, title }) => ({ name, title, default: name === preferred?.name })),
        currentAccount: current?.name ?? '',
      };
    },
  };
}

/** The account asked for, else the preferred one, else the first joined. */
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
