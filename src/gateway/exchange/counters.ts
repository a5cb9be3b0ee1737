import type { Control, SentOperation } from './session.ts';

/** Messages of one answer at most. */
export const MAX_MESSAGES_PER_ANSWER = 100;

/** Messages taken from one payload at most; asking for the rest by number is part of the protocol. */
const MAX_MESSAGES_PER_PAYLOAD = 1000;

/** A message that certainly arrived this often without being worked off is dropped. */
const MAX_TRIES = 5;

/** As `MAX_TRIES`, when nothing tells whether the answers arrived: lost answers must not fail an operation soon. */
const MAX_SENDS = 20;

export interface Incoming {
  /** More is missing than the agent sent: nothing may be taken. */
  gap: boolean;
  /** How many messages of the payload were counted before. */
  skip: number;
  /** How many after them are taken now. */
  take: number;
  inNext: number;
}

/** Decides which messages of a payload are new. @see docs/agent-protocol.md#incoming-messages */
export function countIncoming(inNext: number | null, sequence: number, count: number): Incoming {
  const expected = inNext ?? sequence;
  if (sequence > expected) return { gap: true, skip: count, take: 0, inNext: expected };
  const skip = Math.min(expected - sequence, count);
  const take = Math.min(count - skip, MAX_MESSAGES_PER_PAYLOAD);
  return { gap: false, skip, take, inNext: expected + take };
}

/** Something sent or about to be sent: a control message or an operation. */
export type QueueEntry = ({ kind: 'control' } & Control) | ({ kind: 'operation' } & SentOperation);

export interface OutgoingState {
  outBase: number | null;
  headTries: number;
  headSends: number;
  queue: QueueEntry[];
}

export interface Acknowledged {
  outBase: number;
  /** Operations the agent has worked off. */
  acked: number[];
  /** What is left, oldest first. */
  queue: QueueEntry[];
  /** An entry given up because the agent cannot get past it. */
  poison: QueueEntry | null;
  headTries: number;
  headSends: number;
}

/**
 * Drops what the agent acknowledges, and the head of the queue when it turned out to be poison.
 *
 * @param nextExpected - null when the agent did not say
 * @param arrived - the agent showed that it received the last answer
 * @see docs/agent-protocol.md#poison-messages
 */
export function acknowledge(state: OutgoingState, nextExpected: number | null, arrived: boolean): Acknowledged {
  const base = state.outBase ?? nextExpected ?? 0;
  const next = nextExpected ?? base;
  const sentCount = Math.min(state.queue.length, MAX_MESSAGES_PER_ANSWER);
  const known = next >= base && next - base <= sentCount;
  const done = known ? next - base : 0;
  const gone = state.queue.slice(0, done);
  const left = state.queue.slice(done);
  const acked = gone.flatMap((entry) => (entry.kind === 'operation' ? [entry.activityId] : []));
  const result = { outBase: next, acked, queue: left, poison: null, headTries: 0, headSends: 0 };
  const sameHead = known && done === 0 && left.length > 0;
  if (!sameHead) return result;
  const headTries = state.headTries + (arrived ? 1 : 0);
  const hopeless = headTries >= MAX_TRIES || state.headSends >= MAX_SENDS;
  if (hopeless) return { ...result, queue: left.slice(1), poison: left[0]! };
  return { ...result, headTries, headSends: state.headSends };
}

/** Control messages and operations in the order they were sent. */
export function queueOf(controls: readonly Control[], sent: readonly SentOperation[]): QueueEntry[] {
  const entries: QueueEntry[] = [
    ...controls.map((control) => ({ kind: 'control' as const, ...control })),
    ...sent.map((operation) => ({ kind: 'operation' as const, ...operation })),
  ];
  return entries.sort((a, b) => a.position - b.position);
}
