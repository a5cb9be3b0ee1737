import { createHmac, createSecretKey, type KeyObject, randomUUID } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { AUTH_METHODS, type AuthMethod, type Clock, type TokenFacts } from '../../common/ports.ts';

interface TokenIdentity extends Pick<TokenFacts, 'epochs' | 'method' | 'accessKey'> {
  personId: number;
  email: string;
  accountName: string;
}

interface TokenLife extends Pick<TokenFacts, 'expiresAt'> {
  /** Id of the session that the token continues; absent for a login, which starts a new one. */
  family?: string;
}

export type VerifiedToken = TokenIdentity & TokenFacts;

export type TokenSigner = ReturnType<typeof createTokenSigner>;

const MAX_TOKEN_CHARACTERS = 4096;
/** Largest clock difference between API processes. */
const FUTURE_LEEWAY_SECONDS = 30;

/** JWT with HS256 only, no leeway on `exp`. @param secrets - one or more, newest first: the first signs, all verify */
export function createTokenSigner(secrets: readonly string[], clock: Clock) {
  const keys = new Map(secrets.map((secret) => [keyIdOf(secret), createSecretKey(Buffer.from(secret, 'utf8'))]));
  const [[keyid, key]] = [...keys] as [[string, KeyObject]];
  const nowSeconds = () => Math.floor(clock.now().getTime() / 1000);
  return {
    /** Signs a token with a new id. Stores nothing. */
    issue: (identity: TokenIdentity, life: TokenLife): string =>
      jwt.sign(claimsOf(identity, life, nowSeconds()), key, { algorithm: 'HS256', keyid }),
    /** The token's content; null when it is malformed, expired or not signed by us. */
    verify(token: string): VerifiedToken | null {
      if (token.length > MAX_TOKEN_CHARACTERS) return null;
      const now = nowSeconds();
      for (const candidate of candidatesOf(token, keys)) {
        try {
          if (namesClaimTwice(token)) return null;
          return readClaims(jwt.verify(token, candidate, { algorithms: ['HS256'], clockTimestamp: now }), now);
        } catch {
          // The signature does not match this key.
        }
      }
      return null;
    },
  };
}

function keyIdOf(secret: string): string {
  return createHmac('sha256', secret).update('key id of tokens').digest('base64url').slice(0, 10);
}

/** The key that the token names; all keys for tokens of older releases, which name none. */
function candidatesOf(token: string, keys: ReadonlyMap<string, KeyObject>): KeyObject[] {
  const kid = keyIdIn(token);
  if (kid === undefined) return [...keys.values()];
  const named = typeof kid === 'string' ? keys.get(kid) : undefined;
  return named ? [named] : [];
}

function keyIdIn(token: string): unknown {
  try {
    const header: unknown = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString('utf8'));
    return (header as { kid?: unknown } | null)?.kid;
  } catch {
    return null;
  }
}

function claimsOf(identity: TokenIdentity, life: TokenLife, iat: number): Record<string, unknown> {
  const { person, account, system, membership } = identity.epochs;
  return {
    iat,
    exp: life.expiresAt,
    jti: randomUUID(),
    sub: identity.email,
    acc: identity.accountName,
    id: identity.personId,
    ep: [person, account, system],
    amr: [identity.method],
    ...(membership !== undefined && { mem: membership }),
    ...(life.family !== undefined && { fam: life.family }),
    ...(identity.accessKey !== null && { key: identity.accessKey }),
  };
}

/** Parsers differ in which of two claims with the same name they use. */
function namesClaimTwice(token: string): boolean {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
  const names = payload.match(/"(?:iat|exp|nbf|jti|sub|acc|id|ep|mem|amr|fam|key)"\s*:/g) ?? [];
  return new Set(names.map((name) => name.slice(0, name.lastIndexOf('"')))).size < names.length;
}

function readClaims(claims: unknown, now: number): VerifiedToken | null {
  if (typeof claims !== 'object' || claims === null) return null;
  const { iat, exp, jti, sub, acc, id, ep, mem, amr, fam = jti, key = null } = claims as Record<string, unknown>;
  if (typeof jti !== 'string' || typeof sub !== 'string' || typeof acc !== 'string') return null;
  if (!isCount(iat) || !isCount(exp) || !isCount(id) || !Array.isArray(ep) || ep.length !== 3 || !ep.every(isCount)) {
    return null;
  }
  if (mem !== undefined && !isCount(mem)) return null;
  const method = readMethod(amr);
  if (method === null || typeof fam !== 'string' || (key !== null && typeof key !== 'string')) return null;
  if (exp <= now || iat > now + FUTURE_LEEWAY_SECONDS) return null;
  const [person, account, system] = ep as [number, number, number];
  const epochs = { person, account, system, membership: mem };
  const identity = { personId: id, email: sub, accountName: acc, epochs, method, accessKey: key };
  return { id: jti, family: fam, expiresAt: exp, ...identity };
}

/** Tokens of older releases do not contain it and count as password logins. */
function readMethod(amr: unknown): AuthMethod | null {
  if (amr === undefined) return 'pwd';
  if (!Array.isArray(amr) || amr.length !== 1) return null;
  return AUTH_METHODS.find((method) => method === amr[0]) ?? null;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
