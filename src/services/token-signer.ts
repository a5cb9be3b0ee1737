import { createSecretKey, randomUUID } from 'node:crypto';
import jwt from 'jsonwebtoken';
import type { Clock, Epochs } from './ports.ts';

/** What a token says: who, in which account, since which counters. Rights are never in it. */
export interface TokenIdentity {
  personId: number;
  email: string;
  /** Empty for a person without account. */
  accountName: string;
  epochs: Epochs;
}

export interface VerifiedToken extends TokenIdentity {
  /** Unique per token. */
  id: string;
  /** Seconds since the epoch. */
  expiresAt: number;
}

export interface TokenSigner {
  /** @param minutes - lifetime */
  issue(identity: TokenIdentity, minutes: number): string;
  /** The token's content, or null when it is not one of ours, malformed or expired. */
  verify(token: string): VerifiedToken | null;
}

/** Longer texts are refused unread. */
const MAX_TOKEN_CHARACTERS = 4096;
/** How far ahead a clock of another API process may be. */
const FUTURE_LEEWAY_SECONDS = 30;

/**
 * Bearer tokens: JWT, HS256 and nothing else.
 *
 * @remarks No leeway on `exp`: a token ends in the second it names.
 */
export function createTokenSigner(secret: string, clock: Clock): TokenSigner {
  const key = createSecretKey(Buffer.from(secret, 'utf8'));
  const nowSeconds = () => Math.floor(clock.now().getTime() / 1000);
  return {
    issue(identity, minutes) {
      const iat = nowSeconds();
      const { person, account, system, membership } = identity.epochs;
      const claims = {
        iat,
        exp: iat + minutes * 60,
        jti: randomUUID(),
        sub: identity.email,
        acc: identity.accountName,
        id: identity.personId,
        ep: [person, account, system],
        ...(membership !== undefined && { mem: membership }),
      };
      return jwt.sign(claims, key, { algorithm: 'HS256' });
    },
    verify(token) {
      if (token.length > MAX_TOKEN_CHARACTERS) return null;
      try {
        const now = nowSeconds();
        if (namesClaimTwice(token)) return null;
        return readClaims(jwt.verify(token, key, { algorithms: ['HS256'], clockTimestamp: now }), now);
      } catch {
        return null;
      }
    },
  };
}

/** Which of two counts would be the parser's choice, not ours. */
function namesClaimTwice(token: string): boolean {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
  const names = payload.match(/"(?:iat|exp|nbf|jti|sub|acc|id|ep|mem)"\s*:/g) ?? [];
  return new Set(names.map((name) => name.slice(0, name.lastIndexOf('"')))).size < names.length;
}

function readClaims(claims: unknown, now: number): VerifiedToken | null {
  if (typeof claims !== 'object' || claims === null) return null;
  const { iat, exp, jti, sub, acc, id, ep, mem } = claims as Record<string, unknown>;
  if (typeof jti !== 'string' || typeof sub !== 'string' || typeof acc !== 'string') return null;
  if (!isCount(iat) || !isCount(exp) || !isCount(id) || !Array.isArray(ep) || ep.length !== 3 || !ep.every(isCount)) {
    return null;
  }
  if (mem !== undefined && !isCount(mem)) return null;
  if (exp <= now || iat > now + FUTURE_LEEWAY_SECONDS) return null;
  const [person, account, system] = ep as [number, number, number];
  const epochs = { person, account, system, membership: mem };
  return { id: jti, personId: id, email: sub, accountName: acc, epochs, expiresAt: exp };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
