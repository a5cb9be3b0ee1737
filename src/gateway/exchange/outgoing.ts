import { computerEnvironment, SCRIPT_MESSAGE } from '../../domain/scripts/environment.ts';
import { executableCode, type ScriptBody } from '../../domain/scripts/script.ts';
import type { BObject } from '../../protocol/bpickle.ts';
import type { TypeList } from '../http/message-types.ts';
import { acceptedTypesMessage, dictFromJson } from './answer.ts';
import { type Acknowledged, MAX_MESSAGES_PER_ANSWER, type QueueEntry } from './counters.ts';
import type { AskedResync } from './resync.ts';
import type { Addressee, Control, DueOperation, Session } from './session.ts';

const RESYNCHRONIZE = 'resynchronize';

/** Ids of the packages that a request asked for. */
export interface PackageIds {
  requestId: number;
  /** Null where the package has to be described first. */
  ids: ReadonlyArray<number | null>;
}

/** What there is to say, beside the operations that are due. */
export interface OutgoingWishes {
  /** Nothing may be sent now: the agent is about to start over and would drop the results. */
  silent: boolean;
  /** No operation may be sent now, neither again nor for the first time. */
  withheld: boolean;
  wantedTypes: TypeList;
  /** What the agent believes is wanted. */
  typesDigest: Buffer | null;
  packageIds: readonly PackageIds[];
  /** A `resynchronize` request to make, if the queue allows. */
  resync: AskedResync | null;
  /** Operations not to hand out: their results are here already. */
  answered: ReadonlySet<number>;
}

/** One place of an answer: its message is known, or that of an operation which may be withdrawn at the last moment. */
export type Place =
  | { kind: 'control'; position: number; message: Record<string, unknown> }
  | { kind: 'resend'; position: number; activityId: number; payloadId: number; messageType: string }
  | { kind: 'claim'; position: number; operation: DueOperation };

export interface Outgoing {
  places: Place[];
  controls: Control[];
  outNext: number;
  headTries: number;
  headSends: number;
  /** The `resynchronize` request that is made. */
  asked: AskedResync | null;
}

/**
 * Puts together the next answer: what is unacknowledged first, at its old places, then control messages, then
 * operations, all as far as there is room. Control messages beyond it wait for a later answer.
 *
 * @remarks Operations never travel with a `resynchronize`, as their results could be dropped, nor in the first answer to
 *   an approved computer: its inventory comes before them. @see docs/agent-protocol.md#outgoing-exactly-once
 */
export function planOutgoing(session: Session, ack: Acknowledged, wishes: OutgoingWishes): Outgoing {
  const queue = ack.queue;
  if (wishes.silent) return stayed(session, ack);
  const messages = controlMessages(queue, wishes);
  const hasOperations = queue.some((entry) => entry.kind === 'operation');
  const hasRoom = queue.length + messages.length < MAX_MESSAGES_PER_ANSWER;
  const asked = hasOperations || !hasRoom ? null : wishes.resync;
  if (asked) messages.push({ type: RESYNCHRONIZE, 'operation-id': asked.id, scopes: asked.scopes });
  let position = session.outNext;
  const places: Place[] = queue.map(toPlace);
  for (const message of messages) places.push({ kind: 'control', position: position++, message });
  if (session.approved && session.servedApproved && !session.accountDisabled && !wishes.withheld) {
    const due = session.due.filter((operation) => !wishes.answered.has(operation.activityId));
    for (const operation of fitting(due, places, session.maxBacklog))
      places.push({ kind: 'claim', position: position++, operation });
  }
  // What is sent beyond the limit could never be acknowledged, and its operations would run again and again.
  const sent = places.slice(0, wishes.withheld ? countControls(places) : MAX_MESSAGES_PER_ANSWER);
  return {
    places: sent,
    controls: controlsOf(places),
    outNext: position,
    ...headAfter(ack, places, sent),
    asked,
  };
}

/** Control messages before the first operation: nothing can be sent without what stands before it. */
function countControls(places: readonly Place[]): number {
  const first = places.findIndex((place) => place.kind !== 'control');
  return Math.min(first < 0 ? places.length : first, MAX_MESSAGES_PER_ANSWER);
}

/** How often the oldest message was sent, and arrived, by the next payload: which shows nothing where it was left out. */
function headAfter({ headTries, headSends }: Acknowledged, places: readonly Place[], sent: readonly Place[]) {
  if (places.length === 0) return { headTries, headSends: 0 };
  return sent.length === 0 ? { headTries: headTries - 1, headSends } : { headTries, headSends: headSends + 1 };
}

/**
 * As many operations as there is room for, in the answer and below the bound on messages that wait for the computer, up
 * to one that resynchronizes; that one goes when no other is on its way.
 */
function fitting(
  due: readonly DueOperation[],
  places: readonly Place[],
  maxBacklog: number | null,
): readonly DueOperation[] {
  if (places.some(isResync)) return [];
  const resync = due.findIndex((operation) => operation.messageType === RESYNCHRONIZE);
  const unacknowledged = places.filter((place) => place.kind === 'resend').length;
  const alone = resync === 0 && unacknowledged === 0;
  const below = maxBacklog === null ? Number.POSITIVE_INFINITY : maxBacklog - unacknowledged;
  const room = Math.max(0, Math.min(MAX_MESSAGES_PER_ANSWER - places.length, below));
  return due.slice(0, Math.min(room, alone ? 1 : resync < 0 ? due.length : resync));
}

function isResync(place: Place): boolean {
  if (place.kind === 'control') return place.message['type'] === RESYNCHRONIZE;
  return (place.kind === 'resend' ? place.messageType : place.operation.messageType) === RESYNCHRONIZE;
}

function stayed(session: Session, ack: Acknowledged): Outgoing {
  return {
    places: [],
    controls: controlsOf(ack.queue.map(toPlace)),
    outNext: session.outNext,
    // The next payload will show that this answer arrived, which says nothing about messages that are not in it.
    headTries: ack.headTries - 1,
    headSends: ack.headSends,
    asked: null,
  };
}

function controlMessages(queue: readonly QueueEntry[], wishes: OutgoingWishes): Array<Record<string, unknown>> {
  const messages: Array<Record<string, unknown>> = [];
  if (typesDiffer(queue, wishes)) messages.push(acceptedTypesMessage(wishes.wantedTypes.types));
  for (const { requestId, ids } of wishes.packageIds)
    messages.push({ type: 'package-ids', 'request-id': requestId, ids });
  return messages;
}

/** The list on its way, if any, is what the agent will believe by the time it reads a new one. */
function typesDiffer(queue: readonly QueueEntry[], { wantedTypes, typesDigest }: OutgoingWishes): boolean {
  const onItsWay = queue.findLast((entry) => entry.kind === 'control' && entry.message['type'] === 'accepted-types');
  if (onItsWay?.kind !== 'control') return typesDigest === null || !wantedTypes.digest.equals(typesDigest);
  const types = onItsWay.message['types'] as string[];
  return types.length !== wantedTypes.types.length || types.some((type, i) => type !== wantedTypes.types[i]);
}

function toPlace(entry: QueueEntry): Place {
  if (entry.kind === 'control') return entry;
  return { ...entry, kind: 'resend' };
}

function controlsOf(places: readonly Place[]): Control[] {
  return places.flatMap((place) =>
    place.kind === 'control' ? [{ position: place.position, message: place.message }] : [],
  );
}

/** The message of an operation, as the agent gets it: a script's with the variables of its computer. */
export function operationMessage(
  activityId: number,
  { messageType, fields }: Pick<DueOperation, 'messageType' | 'fields'>,
  computer: Addressee,
): BObject {
  const message = dictFromJson(fields);
  message['type'] = messageType;
  message['operation-id'] = activityId;
  if (messageType === SCRIPT_MESSAGE) {
    const env = fields['env'] as Record<string, unknown> | undefined;
    message['code'] = executableCode(fields as unknown as ScriptBody);
    message['env'] = dictFromJson({ ...env, ...computerEnvironment(activityId, computer) });
  }
  return message;
}
