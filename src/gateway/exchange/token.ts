import { createHash } from 'node:crypto';
import type { Session } from '../../domain/agents/session.ts';
import type { IdentifiedRequest } from './deps.ts';

/** `clone`: a second machine with the identity; `late`: a delayed old payload. @see docs/agent-protocol.md#token */
type PayloadKind = 'current' | 'repeated' | 'clone' | 'late';

const DIGEST_BYTES = 16;
/** The last accepted payload, and a repetition of it without a token. */
const MAX_DIGESTS = 2;

/** Compares a payload with the saved state of its computer. Has no effect. */
export function classifyPayload(session: Session, { token, body, payload }: IdentifiedRequest): PayloadKind {
  if (token === null) return isLate(session, payload) ? 'late' : 'current';
  if (session.token === null || token === session.token) return 'current';
  return isRemembered(session, digestOf(token, body)) ? 'repeated' : 'clone';
}

// Agents repeat at least as much. Less is older than the saved state: it would make finished operations run again.
function isLate(session: Session, { sequence, nextExpected, messages }: IdentifiedRequest['payload']): boolean {
  if (session.inNext === null) return false;
  const end = sequence + messages.length;
  if (end !== session.inNext) return end < session.inNext;
  return nextExpected !== null && session.outBase !== null && nextExpected < session.outBase;
}

interface NextToken {
  token: string;
  requestDigest: Buffer | null;
  isUnchanged: boolean;
}

/** Kept only for a repeated payload that moves no counter, whose sender must not be taken for a clone later. */
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
