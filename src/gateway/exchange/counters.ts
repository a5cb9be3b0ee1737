import type { ControlMessage, SentOperation } from '../../domain/agents/session.ts';

export const MAX_MESSAGES_PER_RESPONSE = 100;

/** The agent sends further messages again, because the response names the next expected number. */
const MAX_MESSAGES_PER_PAYLOAD = 1000;

/** A message that arrived this often without being acknowledged is dropped. */
const MAX_TRIES = 5;

/** As `MAX_TRIES`, when responses may have been lost, which must not fail an operation early. */
const MAX_SENDS = 20;

export interface Incoming {
  gap: boolean;
  skip: number;
  take: number;
  inNext: number;
}

/** Decides which messages of a payload are new. @see docs/agent-protocol.md#incoming-messages */
export function selectIncoming(inNext: number | null, sequence: number, count: number): Incoming {
  const expected = inNext ?? sequence;
  if (sequence > expected) return { gap: true, skip: count, take: 0, inNext: expected };
  const skip = Math.min(expected - sequence, count);
  const take = Math.min(count - skip, MAX_MESSAGES_PER_PAYLOAD);
  return { gap: false, skip, take, inNext: expected + take };
}

export type QueueEntry = ({ kind: 'control' } & ControlMessage) | ({ kind: 'operation' } & SentOperation);

export interface OutgoingState {
  outBase: number | null;
  headTries: number;
  headSends: number;
  queue: QueueEntry[];
}

export interface Acknowledged {
  outBase: number;
  acked: number[];
  queue: QueueEntry[];
  dropped: QueueEntry | null;
  headTries: number;
  headSends: number;
}

/** Removes acknowledged messages and a poisonous head. @see docs/agent-protocol.md#poison-messages */
export function acknowledge(
  state: OutgoingState,
  nextExpected: number | null,
  confirmsLastResponse: boolean,
): Acknowledged {
  const base = state.outBase ?? nextExpected ?? 0;
  const next = nextExpected ?? base;
  const sentCount = Math.min(state.queue.length, MAX_MESSAGES_PER_RESPONSE);
  const isPlausible = next >= base && next - base <= sentCount;
  const count = isPlausible ? next - base : 0;
  const left = state.queue.slice(count);
  const acked = state.queue.slice(0, count).flatMap((entry) => (entry.kind === 'operation' ? [entry.activityId] : []));
  const result = { outBase: next, acked, queue: left, dropped: null, headTries: 0, headSends: 0 };
  const isSameHead = isPlausible && count === 0 && left.length > 0;
  if (!isSameHead) return result;
  const headTries = state.headTries + (confirmsLastResponse ? 1 : 0);
  const isStuck = headTries >= MAX_TRIES || state.headSends >= MAX_SENDS;
  if (isStuck) return { ...result, queue: left.slice(1), dropped: left[0]! };
  return { ...result, headTries, headSends: state.headSends };
}

/** Unacknowledged messages, in sending order. */
export function outgoingQueue(controls: readonly ControlMessage[], sent: readonly SentOperation[]): QueueEntry[] {
  const entries: QueueEntry[] = [
    ...controls.map((control) => ({ kind: 'control' as const, ...control })),
    ...sent.map((operation) => ({ kind: 'operation' as const, ...operation })),
  ];
  return entries.sort((a, b) => a.position - b.position);
}
