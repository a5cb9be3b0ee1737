import { randomUUID } from 'node:crypto';
import { DomainError } from '../../../domain/common/errors.ts';
import type { Origin } from '../../../domain/events/events.ts';
import type { Database } from '../../../persistence/database/sql.ts';
import {
  findInvitationBySecureId,
  isOpenTo,
  type OpenInvitation,
} from '../../../persistence/identity/invitations.repository.ts';
import {
  findAccessKey,
  findLoginPerson,
  type LoginPerson,
  type PersonKey,
  recordFailedLogin,
  recordLogin,
} from '../../../persistence/identity/logins.sql.ts';
import { rehashPassword } from '../../../persistence/identity/people.repository.ts';
import { rateLimitKey } from '../../../process/client-address.ts';
import type { PasswordPolicy } from '../../../process/config.ts';
import type { Hashing } from '../../common/hashing.ts';
import type { AuthMethod, Clock, IdentityAuthenticator } from '../../common/ports.ts';
import { guardInvitation } from '../invitation-guard.ts';
import { joinAsNewcomer, joinByLogin } from '../joining.ts';
import { secretMatches } from './access-keys.ts';
import type { Authenticator } from './authenticator.ts';
import { digestName, type LoginThrottle } from './login-throttle.ts';
import { checkNewPassword, hashPassword, isOutdated, normalisePassword, verifyPassword } from './passwords.ts';
import { type NewSession, type OpenedSession, openSession, planSession } from './sessions.ts';
import type { TokenSigner } from './token-signer.ts';

interface LoginCommand {
  by: { email: string } | { identity: string };
  password: string;
  account: string | undefined;
  invitationId: string | undefined;
  expiryMinutes: number | undefined;
  origin: Origin;
}

interface AccessKeyCommand {
  accessKey: string;
  secretKey: string;
  expiryMinutes: number | undefined;
  origin: Origin;
}

export interface LoginDeps {
  db: Database;
  tokenSigner: TokenSigner;
  clock: Clock;
  hashing: Hashing;
  throttle: LoginThrottle;
  authenticator: Pick<Authenticator, 'invalidate'>;
  identities: IdentityAuthenticator | null;
  passwords: PasswordPolicy;
}

/** The same text for all causes, so that it reveals nothing. */
const WRONG_LOGIN = 'The name or key, or the password or secret, is wrong';

const MEANS: Readonly<Record<AuthMethod, string>> = { pwd: 'a password', pam: 'an identity', key: 'an access key' };

interface LoginAttempt {
  nameDigest: Buffer;
  method: AuthMethod;
  origin: Origin;
}

export function createLoginService(deps: LoginDeps) {
  return {
    /**
     * With an invitation the person, created if the address is unknown, joins its account, which becomes current.
     * @throws {DomainError} AuthenticationFailed for all causes alike; Forbidden for an account the person is not in;
     * UnknownInvitation; TooManyRequests and ServiceUnavailable with a time to wait
     */
    async login(given: LoginCommand): Promise<OpenedSession> {
      const command = { ...given, by: trimmed(given.by) };
      const { invitationId, origin } = command;
      if (invitationId === undefined) return login(deps, command, null);
      const by = { personId: null, address: origin.address };
      return guardInvitation(deps.throttle, by, () => login(deps, command, invitationId));
    },
    /** @throws AuthenticationFailed for an unknown or expired key and a wrong secret alike; TooManyRequests */
    async loginByAccessKey({ accessKey, secretKey, origin, expiryMinutes }: AccessKeyCommand): Promise<OpenedSession> {
      const nameDigest = digestName(`\0access key ${accessKey}`);
      const attempt: LoginAttempt = { nameDigest, method: 'key', origin };
      await deps.throttle.checkLogin(nameDigest, origin.address);
      const found = await findAccessKey(deps.db, accessKey);
      const isRight = secretMatches(secretKey, found?.secretDigest ?? null);
      if (!found || !isRight || (found.expiresAt !== null && found.expiresAt <= deps.clock.now())) {
        await recordFailure(deps, attempt, found?.person ?? null, found?.accountName);
        throw new DomainError('AuthenticationFailed', WRONG_LOGIN);
      }
      const { person, accountName: account, expiresAt } = found;
      return open(deps, person, attempt, { account, accessKey: { id: accessKey, expiresAt }, expiryMinutes });
    },
  };
}

async function login(deps: LoginDeps, command: LoginCommand, secureId: string | null): Promise<OpenedSession> {
  const { account, origin, expiryMinutes, by } = command;
  // Always looked up, so that response times do not reveal whether the name exists.
  const invitation = secureId === null ? null : await findOpenInvitation(deps, secureId, by);
  const nameDigest = digestName('email' in by ? by.email : by.identity);
  const attempt: LoginAttempt = { nameDigest, method: usesPam(deps, command) ? 'pam' : 'pwd', origin };
  const { person, joined } = await authenticate(deps, command, attempt, invitation);
  let current = joined;
  if (secureId !== null) {
    const joining = { secureId, account, origin, now: deps.clock.now() };
    current ??= await deps.db.transaction((tx) => joinByLogin(tx, person, joining));
  }
  return open(deps, person, attempt, { account: current?.account_name ?? account, accessKey: null, expiryMinutes });
}

/** Login names may begin or end with spaces; addresses may not. */
function trimmed(by: LoginCommand['by']): LoginCommand['by'] {
  if ('email' in by) return { email: by.email.trim() };
  return isAddress(by.identity) ? { identity: by.identity.trim() } : by;
}

/** Login names that are addresses are case-insensitive, unless PAM checks them. */
function personKey(by: LoginCommand['by'], pam: boolean): PersonKey {
  return 'email' in by ? by : { ...by, anyCase: !pam && isAddress(by.identity) };
}

function isAddress(identity: string): boolean {
  return identity.includes('@');
}

async function findOpenInvitation({ db, clock }: LoginDeps, secureId: string, by: LoginCommand['by']) {
  const invitation = await findInvitationBySecureId(db, secureId, clock.now());
  if (!invitation || !('email' in by)) return null;
  return (await isOpenTo(db, invitation.id, by.email)) ? invitation : null;
}

async function open(
  deps: LoginDeps,
  person: LoginPerson,
  attempt: LoginAttempt,
  wanted: Pick<NewSession, 'accessKey'> & { account: string | undefined; expiryMinutes: number | undefined },
): Promise<OpenedSession> {
  const plan = await planSession(deps.db, person, wanted.account);
  const { accessKey, expiryMinutes: minutes } = wanted;
  const { nameDigest, method, origin } = attempt;
  const now = deps.clock.now();
  const systemEpoch = await recordLogin(deps.db, {
    person,
    accountId: plan.current?.id ?? 0,
    accessKey: accessKey?.id ?? null,
    nameDigest,
    sender: rateLimitKey(origin.address),
    origin,
    message: `Logged in with ${MEANS[method]}`,
    at: now,
  });
  // The person's other sessions then see this login, and an account joined by it, immediately.
  deps.authenticator.invalidate({ personId: person.id });
  return openSession(deps.tokenSigner, person, plan, { method, accessKey, minutes, systemEpoch, now });
}

/** For the throttle and the event log. For an unknown name (null) the same statements run, but no event is kept. */
function recordFailure(
  { db, throttle }: LoginDeps,
  { nameDigest, method, origin }: LoginAttempt,
  person: LoginPerson | null,
  accountName: string | undefined,
): Promise<void> {
  const message = `A login with ${MEANS[method]} failed`;
  return db.transaction(async (tx) => {
    await throttle.fail(nameDigest, origin.address, tx);
    const about = { personId: person?.id ?? null, accountName: (person && accountName) ?? null };
    await recordFailedLogin(tx, { ...about, message, origin });
  });
}

async function authenticate(
  deps: LoginDeps,
  command: LoginCommand,
  attempt: LoginAttempt,
  invitation: OpenInvitation | null,
): Promise<{ person: LoginPerson; joined: OpenInvitation | null }> {
  const { by, account, origin } = command;
  const password = normalisePassword(command.password);
  const pam = usesPam(deps, command);
  const attemptLogin = async () => {
    await deps.throttle.checkLogin(attempt.nameDigest, origin.address);
    const person = await findLoginPerson(deps.db, personKey(by, pam));
    const passwordError =
      invitation && 'email' in by ? newPasswordError(deps, invitation, { email: by.email, password }) : null;
    if (!person && invitation && 'email' in by && !passwordError) {
      const now = deps.clock.now();
      const login = { email: by.email, password, secureId: command.invitationId!, account, origin, now };
      return joinAsNewcomer(deps, invitation, login);
    }
    // PAM must not see the password of an unknown person: its response time would reveal whether the password is right.
    const checked = pam && !person ? randomUUID() : password;
    const isRight = await checkPassword(deps, command, checked, person?.password_hash ?? null);
    if (isRight && person) {
      if (!pam) await rehashIfOutdated(deps.db, person, password);
      return { person, joined: null };
    }
    await recordFailure(deps, attempt, person, account);
    // The same error for every wrong password, so that it does not reveal which people exist.
    throw passwordError ?? new DomainError('AuthenticationFailed', WRONG_LOGIN);
  };
  return pam ? attemptLogin() : deps.hashing.run(origin, attemptLogin);
}

function newPasswordError(
  { passwords }: LoginDeps,
  invitation: OpenInvitation,
  { email, password }: { email: string; password: string },
): unknown {
  try {
    checkNewPassword(password, passwords, [email, invitation.name, invitation.account_title]);
    return null;
  } catch (error) {
    return error;
  }
}

/** Only possible at a login, which has the plain password. */
async function rehashIfOutdated(db: Database, { id, password_hash: from }: LoginPerson, password: string) {
  if (from !== null && isOutdated(from)) await rehashPassword(db, id, { from, to: await hashPassword(password) });
}

function usesPam(deps: LoginDeps, command: LoginCommand): boolean {
  return deps.identities !== null && 'identity' in command.by;
}

function checkPassword(deps: LoginDeps, { by, origin }: LoginCommand, password: string, storedHash: string | null) {
  if (deps.identities === null || 'email' in by) return verifyPassword(password, storedHash);
  return deps.identities.verify({ identity: by.identity, password, storedHash, address: origin.address });
}
