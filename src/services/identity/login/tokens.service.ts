import { DomainError, unauthorized } from '../../../domain/common/errors.ts';
import type { Database, Sql } from '../../../persistence/database/sql.ts';
import { deleteAccessKeys } from '../../../persistence/identity/access-keys.repository.ts';
import { findLoginPerson, type LoginPerson } from '../../../persistence/identity/logins.sql.ts';
import {
  revokeAccount,
  revokePerson,
  revokeSystem,
  revokeTokens,
} from '../../../persistence/identity/rights.repository.ts';
import type { Caller, Clock } from '../../common/ports.ts';
import { lockCaller } from '../current-person.ts';
import { record } from '../record.ts';
import type { Authenticator } from './authenticator.ts';
import { describeSession, type LoginResult, planSession, secondsUntil } from './sessions.ts';
import type { TokenSigner } from './token-signer.ts';

interface TokensDeps {
  db: Database;
  tokenSigner: TokenSigner;
  authenticator: Pick<Authenticator, 'authenticateNow' | 'invalidate'>;
  clock: Clock;
}

/** Existing sessions. Revocations reach other processes within seconds. @see docs/api-conventions.md#tokens */
export function createTokensService(deps: TokensDeps) {
  const { db, authenticator } = deps;
  return {
    /** The session as at login, with the same token. @throws {DomainError} Unauthorized when the person no longer exists */
    async describe(caller: Caller, token: string): Promise<LoginResult> {
      const person = await requirePerson(db, caller);
      const plan = await planSession(db, person, caller.accountName || undefined);
      const current = plan.accounts.find(({ name }) => name === caller.accountName);
      return describeSession(person, { ...plan, current }, token);
    },
    /** Same session and expiry. @throws Forbidden for an account the person is not in; Unauthorized when revoked */
    switchAccount: (caller: Caller, token: string, accountName: string) =>
      switchAccount(deps, caller, token, accountName),
    /** Ends the session: revokes all tokens issued since the same login. */
    async logout(caller: Caller): Promise<void> {
      const { id, family, expiresAt } = caller.token;
      // All tokens of a session expire together. Older releases only know the token's own id.
      await revokeTokens(db, { ids: [id, family], expiresAt: new Date(expiresAt * 1000) }, deps.clock.now());
      authenticator.invalidate({ personId: caller.personId });
    },
    /** Revokes all own tokens, this one too. */
    async invalidateOwn(caller: Caller, { keepAccessKeys }: { keepAccessKeys: boolean }): Promise<void> {
      await db.transaction(async (tx) => {
        await revokePerson(tx, caller.personId);
        const keys = keepAccessKeys ? 0 : await deleteAccessKeys(tx, caller.personId);
        await recordOfPerson(tx, caller, keys > 0 ? 'Ended all own tokens and access keys' : 'Ended all own tokens');
      });
      authenticator.invalidate({ personId: caller.personId });
    },
    /** Revokes every token for the caller's account, this one too. */
    async invalidateAccount(caller: Caller): Promise<void> {
      await db.transaction(async (tx) => {
        const account = await revokeAccount(tx, { id: caller.accountId });
        if (account) await recordOfAccount(tx, caller, account);
      });
      authenticator.invalidate({ accountName: caller.accountName });
    },
    /** Revokes every token of the system. @throws {DomainError} Forbidden for all but operators */
    async invalidateSystem(caller: Caller): Promise<void> {
      await db.transaction(async (tx) => {
        await requireOperator(tx, caller);
        await revokeSystem(tx);
        await recordOfPerson(tx, caller, 'Ended all tokens of the system');
      });
      authenticator.invalidate('all');
    },
    /** Revokes every token for a named account. @throws {DomainError} Forbidden for all but operators, UnknownAccount */
    async invalidateNamedAccount(caller: Caller, accountName: string): Promise<void> {
      await db.transaction(async (tx) => {
        await requireOperator(tx, caller);
        const account = await revokeAccount(tx, { name: accountName });
        if (!account) throw new DomainError('UnknownAccount', 'There is no such account');
        await recordOfAccount(tx, caller, account);
      });
      authenticator.invalidate({ accountName });
    },
  };
}

/** The counters are copied, so that revocations apply to both tokens. Rights are read again: the old may be revoked. */
async function switchAccount(
  deps: TokensDeps,
  caller: Caller,
  token: string,
  accountName: string,
): Promise<{ token: string; lifeSeconds: number }> {
  const { token: facts } = await deps.authenticator.authenticateNow(token);
  const person = await requirePerson(deps.db, caller);
  const { current } = await planSession(deps.db, person, accountName);
  const isSame = accountName === caller.accountName;
  const joined = { account: current?.token_epoch ?? 0, membership: current?.membership };
  // Tokens of older releases do not contain their membership.
  const same = { membership: facts.epochs.membership ?? current?.membership };
  const epochs = { ...facts.epochs, ...(isSame ? same : joined) };
  const { method, accessKey, family, expiresAt } = facts;
  const identity = { personId: person.id, email: person.email, accountName, epochs, method, accessKey };
  const issued = deps.tokenSigner.issue(identity, { family, expiresAt });
  return { token: issued, lifeSeconds: secondsUntil(expiresAt, deps.clock.now()) };
}

async function requirePerson(sql: Sql, caller: Caller): Promise<LoginPerson> {
  const person = await findLoginPerson(sql, { id: caller.personId });
  if (!person) throw unauthorized();
  return person;
}

async function requireOperator(tx: Sql, caller: Caller): Promise<void> {
  const { operator } = await lockCaller(tx, caller);
  if (!operator) throw new DomainError('Forbidden', 'Only operators of the system may do this');
}

function recordOfPerson(tx: Sql, caller: Caller, message: string): Promise<void> {
  return record(tx, caller, 'Person', { id: caller.personId, name: caller.name }, message);
}

function recordOfAccount(tx: Sql, caller: Caller, { id, title }: { id: number; title: string }): Promise<void> {
  const account = { id, name: title };
  return record(tx, { ...caller, accountId: id }, 'Account', account, 'Ended all tokens of the account');
}
