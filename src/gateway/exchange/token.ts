import { createHash } from 'node:crypto';
import type { Session } from '../../domain/agents/session.ts';
import type { IdentifiedRequest } from './deps.ts';

/** `clone`: a second machine with the identity; `late`: a delayed old payload. @see docs/agent-protocol.md#token */
export type PayloadKind = 'current' | 'repeated' | 'clone' | 'late';

const DIGEST_BYTES = 16;
/** The last accepted payload, and a repetition of it without a token. */
const MAX_DIGESTS = 2;

export function classifyPayload(session: Session, { token, body, payload }: IdentifiedRequest): PayloadKind {
  if (token === null) return isLate(session, payload) ? 'late' : 'current';
  if (session.token === null || token === session.token) return 'current';
  return isRemembered(session, digestOf(token, body)) ? 'repeated' : 'clone';
}

/**
 * An agent that repeats a payload without a response sends at least as much as before. A payload without a token that
 * has less is older than the saved state: it would reset the counters, and finished operations would be sent again.
 */
function isLate(session: Session, { sequence, nextExpected, messages }: IdentifiedRequest['payload']): boolean {
  if (session.inNext === null) return false;
  const end = sequence + messages.length;
  if (end !== session.inNext) return end < session.inNext;
  return nextExpected !== null && session.outBase !== null && nextExpected < session.outBase;
}

export interface NextToken {
  token: string;
  requestDigest: Buffer | null;
  isUnchanged: boolean;
}

/**
 * Chooses the token of a response. A payload with a token always gets a new one. A repeated payload that moves no
 * counter keeps the token: either the agent has the first response or the first payload is still in transit, and in
 * neither case may the agent be mistaken for a clone afterwards.
 */
export function nextToken(
  session: Session,
  { token, body }: IdentifiedRequest,
  isMoved: boolean,
  newToken: () => string,
): NextToken {
  const { token: last } = session;
  if (!isMoved && last !== null) {
    const digest = digestOf(last, body);
    if (token === null || isRemembered(session, digest)) {
      return { token: last, requestDigest: remember(session, digest), isUnchanged: true };
    }
  }
  return { token: newToken(), requestDigest: token === null ? null : digestOf(token, body), isUnchanged: false };
}

function isRemembered({ requestDigest }: Session, digest: Buffer): boolean {
  return splitDigests(requestDigest).some((known) => known.equals(digest));
}

function remember({ requestDigest }: Session, digest: Buffer): Buffer {
  const others = splitDigests(requestDigest).filter((known) => !known.equals(digest));
  return Buffer.concat([digest, ...others].slice(0, MAX_DIGESTS));
}

function splitDigests(joined: Buffer | null): Buffer[] {
  const count = (joined?.length ?? 0) / DIGEST_BYTES;
  return Array.from({ length: count }, (_, i) => joined!.subarray(i * DIGEST_BYTES, (i + 1) * DIGEST_BYTES));
}

function digestOf(token: string, body: Buffer): Buffer {
  return createHash('sha256').update(token).update('\0').update(body).digest().subarray(0, DIGEST_BYTES);
}
