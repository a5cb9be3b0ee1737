import { randomUUID } from 'node:crypto';
import { MAX_INT4 } from '../../domain/common/integers.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { LARGE_BYTES } from '../../process/body-budget.ts';
import type { BValue } from '../../protocol/bpickle.ts';
import { typeListDigest } from '../../protocol/type-digest.ts';
import { senderOf } from '../../services/common/token-buckets.ts';
import { type Facts, noFacts, type OperationResult } from '../facts/facts.ts';
import { isUnstorable } from '../facts/fields.ts';
import { messageType, readMessages, readMessagesInTurns, reject } from '../facts/read-messages.ts';
import { hasFacts } from '../facts/saving/save-facts.ts';
import { saveOneByOne } from '../facts/saving/save-one-by-one.ts';
import { EVERYTHING, REGISTER_ONLY } from '../http/message-types.ts';
import { encodeAnswer } from './answer.ts';
import {
  type Acknowledged,
  acknowledge,
  countIncoming,
  type Incoming,
  MAX_MESSAGES_PER_ANSWER,
  queueOf,
} from './counters.ts';
import type { ExchangeDeps, IdentifiedRequest } from './deps.ts';
import type { Doubt } from './doubts.ts';
import { type ExchangeWrite, writeExchanges } from './exchange-writer.ts';
import { noteForeignResults } from './foreign-results.ts';
import { continueWith } from './freshness.ts';
import { type Outgoing, type PackageIds, planOutgoing } from './outgoing.ts';
import { renderPlaces } from './render.ts';
import { openResyncs, packagesAsked, resyncAfter, scopesToAsk } from './resync.ts';
import type { DueOperation, Session } from './session.ts';
import type { SessionChange, SessionWritten } from './session-writer.ts';

/** A payload of a computer whose identity and token are good. */
export interface Arrival extends IdentifiedRequest {
  session: Session;
  now: Date;
  /** The agent returned the token of the last answer, so it received that answer. */
  arrived: boolean;
  /** Why it may be that of a second machine. */
  doubt: Doubt | null;
}

/** An arrival with what is new of it. */
interface Received extends Arrival {
  incoming: Incoming;
  /** Those that are taken in now. */
  messages: readonly BValue[];
  /** What they say. */
  facts: Facts;
  /** Where the agent stands with what it was sent. */
  ack: Acknowledged;
  /** What it is told of packages it asked for. */
  packageIds: readonly PackageIds[];
}

/** A larger payload is written by itself, and no other exchange waits for it. */
const MAX_SHARED_BYTES = 256 * 1024;

/**
 * Carries an exchange through: reads the new messages, writes counters, facts, results and hand-outs in one
 * transaction, and answers.
 *
 * @returns null, with nothing written, when another exchange of the computer came between
 */
export async function acceptExchange(deps: ExchangeDeps, arrival: Arrival): Promise<Buffer | null> {
  const { session, now } = arrival;
  const received = await receive(deps, arrival);
  const outgoing = await planAnswer(deps.db, received);
  const change = toChange(received, outgoing);
  const resync = resyncAfter(session, outgoing.asked, received.facts.faults.refused, now);
  const written = await write(deps, { ...received, resync }, change);
  if (!written) return null;
  await noteForeignResults(deps, session, change.results, written.accepted, now);
  for (const type of received.facts.unknownTypes) deps.contacts.sawUnknownType(type);
  noteAccepted(deps, received, change, written);
  const answer = await renderPlaces(deps.db, session, outgoing.places, written.claimed);
  const { inNext: nextExpected, token, clientTypesDigest } = change;
  return encodeAnswer(await deps.serverUuid(), answer, { nextExpected, token, clientTypesDigest });
}

/** Reads what is new and answers what can be answered before the transaction. */
async function receive(deps: ExchangeDeps, arrival: Arrival): Promise<Received> {
  const { session, payload } = arrival;
  const { outBase, headTries, headSends, controls, sent } = session;
  const incoming = countIncoming(session.inNext, payload.sequence, payload.messages.length);
  const messages = payload.messages.slice(incoming.skip, incoming.skip + incoming.take);
  const facts = await takeIn(arrival, messages);
  if (deps.encryptionKeys.length === 0) refuseSecrets(facts);
  const queue = queueOf(controls, sent);
  const ack = acknowledge({ outBase, headTries, headSends, queue }, payload.nextExpected, arrival.arrived);
  const packageIds = await answerPackageRequests(deps, session, ack, facts);
  return { ...arrival, incoming, messages, facts, ack, packageIds };
}

function noteAccepted(
  { metrics, traces, logger }: ExchangeDeps,
  { session: { computerId }, now, messages, facts }: Received,
  { claims, results, dropped }: SessionChange,
  { claimed, accepted }: SessionWritten,
): void {
  // Both sets are of all exchanges that were written together.
  const delivered = claims.flatMap(({ activityId }) => (claimed.has(activityId) ? [activityId] : []));
  const answered = results.filter(({ operationId }) => accepted.has(operationId));
  metrics.exchanged('accepted');
  metrics.received(messages.map((message) => messageType(message)));
  metrics.faulty(facts.faults.all);
  metrics.delivered(delivered.length);
  metrics.results(answered.map(({ ok }) => ok));
  if (dropped) metrics.poisoned();
  void traces.record({ computerId, startMs: now.getTime(), delivered, results: answered });
  const answers = answered.map(({ operationId }) => operationId);
  logger.debug({ computerId, messages: messages.length, delivered, answered: answers }, 'exchange');
}

/** Nobody has agreed to know anything of a pending computer; an archived one may only finish what it was given. */
async function takeIn({ session, body, payload }: Arrival, messages: readonly BValue[]): Promise<Facts> {
  const { approved, archived } = session;
  const read = body.length <= LARGE_BYTES ? readMessages : readMessagesInTurns;
  const facts = approved || archived ? await read(messages, openResyncs(session)) : noFacts();
  const kept = session.approved ? facts : { ...noFacts(), ...resultsOf(facts) };
  if (payload.clientAcceptedTypes) kept.inventory.client_types = [...payload.clientAcceptedTypes];
  return kept;
}

/** Nothing secret is stored in clear: without a key the operation fails, and can be repeated once there is one. */
function refuseSecrets(facts: Facts): void {
  const lost = new Set(facts.recoveryKeys.map((item) => item.operationId));
  facts.recoveryKeys = [];
  facts.results = facts.results.map((result) =>
    lost.has(result.operationId) ? { ...result, ok: false, text: 'The server has no key to encrypt it with.' } : result,
  );
}

function resultsOf(facts: Facts): Partial<Facts> {
  const { results, recoveryKeys, auditReports, packageResults } = facts;
  return { results, recoveryKeys, auditReports, packageResults };
}

/** Finds the packages that an agent asked for; a request that can never be answered is rejected. */
async function answerPackageRequests(
  deps: ExchangeDeps,
  session: Session,
  ack: Acknowledged,
  facts: Facts,
): Promise<PackageIds[]> {
  const packageIds: PackageIds[] = [];
  // An agent asks for one thing at a time, and again for what was not answered: a flood of requests does not pile up.
  const waiting = ack.queue.filter((entry) => entry.kind === 'control').length;
  for (const request of facts.packageRequests.slice(0, Math.max(0, MAX_MESSAGES_PER_ANSWER - waiting))) {
    try {
      const ids = await deps.catalogue.answer(request, session.accountId);
      packageIds.push({ requestId: request.requestId, ids });
    } catch (error) {
      if (!isUnstorable(error)) throw error;
      reject(facts, 'add-packages', 'could not be stored');
    }
  }
  return packageIds;
}

async function planAnswer(db: Sql, received: Received): Promise<Outgoing> {
  const { session, payload, incoming, ack, facts, packageIds, now, token, doubt } = received;
  const scopes = scopesToAsk(session, facts.faults.refused, now);
  const free = scopes.length > 0 && !incoming.gap && !ack.queue.some((entry) => entry.kind === 'operation');
  return planOutgoing(session, ack, {
    silent: incoming.gap,
    withheld: doubt !== null && token === null,
    wantedTypes: session.approved ? EVERYTHING : REGISTER_ONLY,
    typesDigest: payload.acceptedTypesDigest,
    packageIds,
    resync: free ? { id: await nextOperationId(db), scopes } : null,
    answered: new Set(facts.results.map((result) => result.operationId)),
  });
}

/** Operations of the server's own get numbers of the same series, so that no activity ever has the same. */
async function nextOperationId(db: Sql): Promise<number> {
  const [row] = await db.query<{ id: number }>(`select nextval(pg_get_serial_sequence('activity', 'id'))::int as id`);
  return row!.id;
}

function toChange(received: Received, outgoing: Outgoing): SessionChange {
  const { session, payload, incoming, ack, facts, now } = received;
  const { places, controls, outNext, headSends, asked } = outgoing;
  const moved = incoming.take > 0 || ack.outBase !== session.outBase;
  const { token, requestDigest, kept } = continueWith(session, received, moved, randomUUID);
  const results = firstResults(facts.results);
  const poison = ack.poison?.kind === 'operation' ? ack.poison.activityId : null;
  // What it answers it has taken, however often it was sent.
  const isAnswered = results.some(({ operationId }) => operationId === poison);
  return {
    inNext: incoming.inNext,
    outBase: ack.outBase,
    outNext,
    token,
    requestDigest,
    controls,
    // With the token of an earlier answer the agent will not show that it received this one.
    headTries: kept ? Math.max(outgoing.headTries - 1, -1) : outgoing.headTries,
    headSends,
    clientTypesDigest: payload.clientAcceptedTypes
      ? typeListDigest(payload.clientAcceptedTypes)
      : session.clientTypesDigest,
    servedApproved: session.approved,
    ...packagesAsked(session, asked, now),
    lastSequence: incoming.gap ? session.lastSequence : payload.sequence,
    lastAddress: senderOf(received.address),
    acked: poison !== null && isAnswered ? [...ack.acked, poison] : ack.acked,
    claims: places.flatMap((place) => (place.kind === 'claim' ? [toClaim(place.operation, place.position)] : [])),
    resent: places.flatMap((place) => (place.kind === 'resend' ? [place.activityId] : [])),
    dropped: poison !== null && !isAnswered ? { activityId: poison, text: POISON_TEXT } : null,
    results,
  };
}

function toClaim({ activityId, messageType }: DueOperation, position: number): SessionChange['claims'][number] {
  return { activityId, position, messageType };
}

const POISON_TEXT = 'The computer received this operation several times and could not take it.';

/** The first result of each operation; ids that no activity can have are left out. */
function firstResults(results: readonly OperationResult[]): OperationResult[] {
  const first = new Map<number, OperationResult>();
  for (const result of results) {
    const possible = result.operationId >= 1 && result.operationId <= MAX_INT4;
    if (possible && !first.has(result.operationId)) first.set(result.operationId, result);
  }
  return [...first.values()];
}

async function write(
  deps: ExchangeDeps,
  { session, secureIdHash, body, now, facts, messages, resync, doubt }: Received & Pick<ExchangeWrite, 'resync'>,
  change: SessionChange,
): Promise<SessionWritten | null> {
  const context = { computerId: session.computerId, now, encryptionKeys: deps.encryptionKeys };
  const reported = hasFacts(facts) ? { context, facts } : null;
  const whole: ExchangeWrite = { session, change, now, secureIdHash, reported, resync, doubt };
  try {
    return body.length <= MAX_SHARED_BYTES ? await deps.sessions.write(whole) : await writeAlone(deps, whole);
  } catch (error) {
    if (!isUnstorable(error)) throw error;
    const sqlState = (error as { code: string }).code;
    deps.logger.warn({ computerId: session.computerId, sqlState }, 'a message cannot be stored');
    const mine = session.approved ? messages : [];
    return writeAlone(deps, { ...whole, reported: { context, facts } }, (tx) => saveOneByOne(tx, context, mine, facts));
  }
}

async function writeAlone(
  deps: ExchangeDeps,
  write: ExchangeWrite,
  save?: Parameters<typeof writeExchanges>[2],
): Promise<SessionWritten | null> {
  const [written] = await deps.gate.run(() => deps.db.transaction((tx) => writeExchanges(tx, [write], save)));
  return written!;
}
