import { isDeepStrictEqual } from 'node:util';
import type { IntervalsState } from '../../domain/agents/intervals.ts';
import type { ControlMessage, DueOperation, Session } from '../../domain/agents/session.ts';
import type { TypeList } from '../http/message-types.ts';
import { type Acknowledged, MAX_MESSAGES_PER_RESPONSE, type QueueEntry } from './counters.ts';
import { acceptedTypesMessage, setIntervalsMessage } from './response.ts';
import type { ResyncRequest } from './resync.ts';

const RESYNCHRONIZE = 'resynchronize';

export interface PackageIds {
  requestId: number;
  ids: ReadonlyArray<number | null>;
}

interface ResponseInputs {
  /** Nothing may be sent: the agent is about to start over and would drop the results. */
  hasGap: boolean;
  withholdsOperations: boolean;
  wantedTypes: TypeList;
  typesDigest: Buffer | null;
  /** Null if unchanged. */
  intervals: IntervalsState | null;
  packageIds: readonly PackageIds[];
  resyncRequest: ResyncRequest | null;
  withResult: ReadonlySet<number>;
}

export type ResponseSlot =
  | { kind: 'control'; position: number; message: Record<string, unknown> }
  | { kind: 'resend'; position: number; activityId: number; payloadId: number; messageType: string }
  | { kind: 'send'; position: number; operation: DueOperation };

export interface ResponsePlan {
  slots: ResponseSlot[];
  controls: ControlMessage[];
  outNext: number;
  headTries: number;
  headSends: number;
  resyncRequest: ResyncRequest | null;
}

/**
 * Unacknowledged messages at their positions, then control messages and due operations, as far as there is room. No
 * operations with a `resynchronize`, as results could be dropped, nor before the first inventory of an approved
 * computer. @see docs/agent-protocol.md#outgoing-exactly-once
 */
export function planResponse(session: Session, ack: Acknowledged, inputs: ResponseInputs): ResponsePlan {
  if (inputs.hasGap) return emptyPlan(session, ack);
  const { queue } = ack;
  const messages = controlMessages(session, queue, inputs);
  const hasOperations = queue.some((entry) => entry.kind === 'operation');
  const hasRoom = queue.length + messages.length < MAX_MESSAGES_PER_RESPONSE;
  const resyncRequest = hasOperations || !hasRoom ? null : inputs.resyncRequest;
  if (resyncRequest) {
    messages.push({ type: RESYNCHRONIZE, 'operation-id': resyncRequest.id, scopes: resyncRequest.scopes });
  }
  let position = session.outNext;
  const slots: ResponseSlot[] = queue.map(toSlot);
  for (const message of messages) slots.push({ kind: 'control', position: position++, message });
  if (session.approved && session.servedApproved && !session.accountDisabled && !inputs.withholdsOperations) {
    const due = session.due.filter((operation) => !inputs.withResult.has(operation.activityId));
    for (const operation of selectDue(due, slots, session.maxBacklog)) {
      slots.push({ kind: 'send', position: position++, operation });
    }
  }
  // Messages beyond the limit could never be acknowledged, and their operations would run repeatedly.
  const included = slots.slice(0, inputs.withholdsOperations ? countLeadingControls(slots) : MAX_MESSAGES_PER_RESPONSE);
  return {
    slots: included,
    controls: controlsOf(slots),
    outNext: position,
    ...countHeadSends(ack, slots, included),
    resyncRequest,
  };
}

/** Control messages before the first operation: messages are sent strictly in order. */
function countLeadingControls(slots: readonly ResponseSlot[]): number {
  const first = slots.findIndex((slot) => slot.kind !== 'control');
  return Math.min(first < 0 ? slots.length : first, MAX_MESSAGES_PER_RESPONSE);
}

/** The next payload confirms this response, but not a head that is not included. */
function countHeadSends(
  { headTries, headSends }: Acknowledged,
  slots: readonly ResponseSlot[],
  included: readonly ResponseSlot[],
) {
  if (slots.length === 0) return { headTries, headSends: 0 };
  return included.length === 0 ? { headTries: headTries - 1, headSends } : { headTries, headSends: headSends + 1 };
}

function selectDue(
  due: readonly DueOperation[],
  slots: readonly ResponseSlot[],
  maxBacklog: number | null,
): readonly DueOperation[] {
  if (slots.some(isResync)) return [];
  const resync = due.findIndex((operation) => operation.messageType === RESYNCHRONIZE);
  const unacknowledged = slots.filter((slot) => slot.kind === 'resend').length;
  const isAlone = resync === 0 && unacknowledged === 0;
  const backlogRoom = maxBacklog === null ? Number.POSITIVE_INFINITY : maxBacklog - unacknowledged;
  const room = Math.max(0, Math.min(MAX_MESSAGES_PER_RESPONSE - slots.length, backlogRoom));
  return due.slice(0, Math.min(room, isAlone ? 1 : resync < 0 ? due.length : resync));
}

function isResync(slot: ResponseSlot): boolean {
  if (slot.kind === 'control') return slot.message['type'] === RESYNCHRONIZE;
  return (slot.kind === 'resend' ? slot.messageType : slot.operation.messageType) === RESYNCHRONIZE;
}

function emptyPlan(session: Session, ack: Acknowledged): ResponsePlan {
  return {
    slots: [],
    controls: controlsOf(ack.queue.map(toSlot)),
    outNext: session.outNext,
    headTries: ack.headTries - 1,
    headSends: ack.headSends,
    resyncRequest: null,
  };
}

function controlMessages(
  session: Session,
  queue: readonly QueueEntry[],
  inputs: ResponseInputs,
): Array<Record<string, unknown>> {
  const messages: Array<Record<string, unknown>> = [];
  if (typesDiffer(queue, inputs)) messages.push(acceptedTypesMessage(inputs.wantedTypes.types));
  const intervals = inputs.intervals && setIntervalsMessage(inputs.intervals);
  if (intervals && !isDeepStrictEqual(intervals, setIntervalsMessage(session))) messages.push(intervals);
  for (const { requestId, ids } of inputs.packageIds) {
    messages.push({ type: 'package-ids', 'request-id': requestId, ids });
  }
  return messages;
}

/** The agent will have applied a queued list when it reads a new one. */
function typesDiffer(queue: readonly QueueEntry[], { wantedTypes, typesDigest }: ResponseInputs): boolean {
  const queued = queue.findLast((entry) => entry.kind === 'control' && entry.message['type'] === 'accepted-types');
  if (queued?.kind !== 'control') return typesDigest === null || !wantedTypes.digest.equals(typesDigest);
  const types = queued.message['types'] as string[];
  return types.length !== wantedTypes.types.length || types.some((type, i) => type !== wantedTypes.types[i]);
}

export function toSlot(entry: QueueEntry): ResponseSlot {
  return entry.kind === 'control' ? entry : { ...entry, kind: 'resend' };
}

function controlsOf(slots: readonly ResponseSlot[]): ControlMessage[] {
  return slots.flatMap((slot) => (slot.kind === 'control' ? [{ position: slot.position, message: slot.message }] : []));
}
