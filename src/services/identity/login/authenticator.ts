import { DomainError, unauthorized } from '../../../domain/common/errors.ts';
import { GLOBAL_PERMISSIONS, type Permission } from '../../../domain/identity/permissions.ts';
import { findRights, type RightsRow } from '../../../persistence/identity/rights.sql.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import type { Clock, Principal } from '../../common/ports.ts';
import type { TokenSigner, VerifiedToken } from './token-signer.ts';

export type Authenticator = ReturnType<typeof createAuthenticator>;

/** Changed rights and revocations take effect within this time on every instance. */
const RIGHTS_TTL_MS = 2000;
const MAX_CACHED = 10_000;

interface Entry {
  principal: Principal;
  expiresAtMs: number;
  freshUntilMs: number;
}

/** Resolves tokens to people with rights that are at most seconds old. Cached: one signature check per token. */
export function createAuthenticator(deps: { db: Sql; tokenSigner: TokenSigner; clock: Clock }) {
  const entries = new Map<string, Entry>();
  const loading = new Map<string, Promise<Principal>>();
  // Values read before an invalidation must not be cached after it.
  let invalidations = 0;

  async function load(token: string): Promise<Principal> {
    const verified = deps.tokenSigner.verify(token);
    if (!verified) throw unauthorized();
    const readAtMs = deps.clock.now().getTime();
    const before = invalidations;
    const principal = await readPrincipal(deps.db, verified);
    if (before !== invalidations) return principal;
    if (entries.size >= MAX_CACHED) entries.delete(entries.keys().next().value!);
    entries.set(token, { principal, expiresAtMs: verified.expiresAt * 1000, freshUntilMs: readAtMs + RIGHTS_TTL_MS });
    return principal;
  }

  return {
    /** @throws {DomainError} Unauthorized when the token is invalid or was revoked, AccountDisabled */
    async authenticate(token: string): Promise<Principal> {
      const nowMs = deps.clock.now().getTime();
      const entry = entries.get(token);
      if (entry && nowMs < entry.freshUntilMs && nowMs < entry.expiresAtMs) return entry.principal;
      if (entry) entries.delete(token);
      let pending = loading.get(token);
      if (!pending) {
        const started = load(token).finally(() => loading.get(token) === started && loading.delete(token));
        loading.set(token, started);
        pending = started;
      }
      return pending;
    },
    /** The current rights, uncached. @throws {DomainError} Unauthorized when expired or revoked, AccountDisabled */
    async reauthenticate(known: Principal): Promise<Principal> {
      if (known.token.expiresAt * 1000 <= deps.clock.now().getTime()) throw unauthorized();
      return readPrincipal(deps.db, { ...known, ...known.token });
    },
    /** As `authenticate`, but uncached: for calls that issue new credentials. */
    authenticateNow: load,
    /** Drops the cached rights of all tokens of a person or account. */
    invalidate(whose: { personId: number } | { accountName: string } | 'all'): void {
      invalidations += 1;
      loading.clear();
      for (const [token, { principal }] of entries) {
        const known =
          whose === 'all' ||
          ('personId' in whose ? principal.personId === whose.personId : principal.accountName === whose.accountName);
        if (known) entries.delete(token);
      }
    },
  };
}

/** A token's principal, with current rights. @throws {DomainError} Unauthorized, AccountDisabled */
export async function readPrincipal(sql: Sql, token: VerifiedToken): Promise<Principal> {
  return toPrincipal(token, await findRights(sql, { ...token, tokenIds: [token.id, token.family] }));
}

function toPrincipal(token: VerifiedToken, rights: RightsRow | null): Principal {
  if (!rights) throw unauthorized();
  const member = rights.account_id !== null;
  const { person, account, system, membership } = token.epochs;
  const revoked =
    rights.token_revoked ||
    rights.person_epoch !== person ||
    rights.system_epoch !== system ||
    (member && rights.account_epoch !== account) ||
    (member && membership !== undefined && rights.membership !== membership);
  if (revoked || (token.accountName !== '' && !member)) throw unauthorized();
  if (rights.account_disabled) throw new DomainError('AccountDisabled', 'This account is disabled');
  const { id, family, method, accessKey, expiresAt, epochs } = token;
  return {
    token: { id, family, method, accessKey, expiresAt, epochs },
    personId: token.personId,
    email: rights.email,
    name: rights.name,
    accountId: rights.account_id ?? 0,
    accountName: token.accountName,
    ...toPermissions(rights),
  };
}

/** What the rights of a person permit. */
export function toPermissions(rights: RightsRow): Pick<Principal, 'may' | 'groups'> {
  const scopes = readScopes(rights);
  const globals = new Set<string>(rights.global_permissions);
  return {
    may: (permission) => (isGlobal(permission) ? globals.has(permission) : scopes.has(permission)),
    groups: (permission) => {
      if (isGlobal(permission)) return globals.has(permission) ? 'all' : [];
      return scopes.get(permission) ?? [];
    },
  };
}

function readScopes(rights: RightsRow): Map<string, 'all' | readonly number[]> {
  const scopes = new Map<string, 'all' | readonly number[]>();
  for (const { permissions, groups } of rights.group_permissions) {
    for (const permission of permissions) {
      const scope = scopes.get(permission);
      if (groups === null) scopes.set(permission, 'all');
      else if (scope === undefined) scopes.set(permission, groups);
      else if (scope !== 'all') scopes.set(permission, [...new Set([...scope, ...groups])]);
    }
  }
  return scopes;
}

function isGlobal(permission: Permission): boolean {
  return (GLOBAL_PERMISSIONS as readonly Permission[]).includes(permission);
}
