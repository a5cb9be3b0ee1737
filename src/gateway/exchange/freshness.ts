import { createHash } from 'node:crypto';
import type { IdentifiedRequest } from './deps.ts';
import type { Session } from './session.ts';

/**
 * What a payload is by its token and its counters: one to be carried through, the last accepted one again, one of a
 * second machine with the same identity, or an old one that the network brings late.
 */
export type Verdict = 'good' | 'repeated' | 'foreign' | 'late';

const DIGEST_BYTES = 16;
/** Payloads remembered: the last that was accepted, and one that was repeated without a token after it. */
const MAX_DIGESTS = 2;

/**
 * Judges a payload by what its computer said before.
 *
 * @see docs/agent-protocol.md#sequence-numbers-and-delivery
 */
export function judge(session: Session, { token, body, payload }: IdentifiedRequest): Verdict {
  if (token === null) return isLate(session, payload) ? 'late' : 'good';
  if (session.token === null || token === session.token) return 'good';
  return isKnown(session, digestOf(token, body)) ? 'repeated' : 'foreign';
}

/**
 * Agents that repeat a payload because nothing came back send at least as much as before: one without a token that says
 * less than was counted already left before others that arrived. Its counters would take those of the computer back,
 * and operations that were worked off would be handed out again.
 */
function isLate(session: Session, { sequence, nextExpected, messages }: IdentifiedRequest['payload']): boolean {
  if (session.inNext === null) return false;
  const end = sequence + messages.length;
  if (end !== session.inNext) return end < session.inNext;
  return nextExpected !== null && session.outBase !== null && nextExpected < session.outBase;
}

/** Token and remembered payloads after an exchange. */
export interface Continuation {
  token: string;
  requestDigest: Buffer | null;
  /** The token is the one from before. */
  kept: boolean;
}

/**
 * Decides on the token of an answer. Every payload with a token gets a new one. A repeated payload that moves nothing
 * keeps the token: whether the agent has the answer to the first, or whether the first is still on its way, nobody can
 * tell, and in both cases the agent must not be taken for a second machine afterwards.
 */
export function continueWith(
  session: Session,
  { token, body }: IdentifiedRequest,
  moved: boolean,
  fresh: () => string,
): Continuation {
  const { token: last } = session;
  if (!moved && last !== null) {
    const digest = digestOf(last, body);
    if (token === null || isKnown(session, digest)) {
      return { token: last, requestDigest: remember(session, digest), kept: true };
    }
  }
  return { token: fresh(), requestDigest: token === null ? null : digestOf(token, body), kept: false };
}

function isKnown({ requestDigest }: Session, digest: Buffer): boolean {
  return digestsOf(requestDigest).some((known) => known.equals(digest));
}

function remember({ requestDigest }: Session, digest: Buffer): Buffer {
  const others = digestsOf(requestDigest).filter((known) => !known.equals(digest));
  return Buffer.concat([digest, ...others].slice(0, MAX_DIGESTS));
}

function digestsOf(joined: Buffer | null): Buffer[] {
  const count = (joined?.length ?? 0) / DIGEST_BYTES;
  return Array.from({ length: count }, (_, i) => joined!.subarray(i * DIGEST_BYTES, (i + 1) * DIGEST_BYTES));
}

function digestOf(token: string, body: Buffer): Buffer {
  return createHash('sha256').update(token).update('\0').update(body).digest().subarray(0, DIGEST_BYTES);
}
