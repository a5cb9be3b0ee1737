import { randomUUID } from 'node:crypto';
import type { OperationResult } from '../../domain/agents/facts.ts';
import type { IntervalsState } from '../../domain/agents/intervals.ts';
import type { Session, SessionChange } from '../../domain/agents/session.ts';
import { MAX_INT4 } from '../../domain/common/integers.ts';
import type { SuspectedClone } from '../../persistence/agents/clones.sql.ts';
import type { SavedExchange } from '../../persistence/agents/exchanges.sql.ts';
import { nextOperationId } from '../../persistence/agents/sessions.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { LARGE_BYTES } from '../../process/admission/request-memory.ts';
import { rateLimitKey } from '../../process/client-address.ts';
import type { BValue } from '../../protocol/bpickle.ts';
import { typeListDigest } from '../../protocol/type-digest.ts';
import { emptyFacts, type Facts } from '../facts/facts.ts';
import { isUnstorable } from '../facts/fields.ts';
import { messageType, readMessages, readMessagesInTurns, rejectMessage } from '../facts/read-messages.ts';
import { hasFacts } from '../facts/save-facts.ts';
import { saveOneByOne } from '../facts/save-one-by-one.ts';
import { EVERYTHING, REGISTER_ONLY } from '../http/message-types.ts';
import {
  type Acknowledged,
  acknowledge,
  type Incoming,
  MAX_MESSAGES_PER_RESPONSE,
  outgoingQueue,
  selectIncoming,
} from './counters.ts';
import type { ExchangeDeps, IdentifiedRequest } from './deps.ts';
import { logIgnoredResults } from './ignored-results.ts';
import { intervalsAfter } from './intervals.ts';
import { buildMessages } from './operation-messages.ts';
import { type PackageIds, planResponse, type ResponsePlan } from './plan-response.ts';
import { encodeResponse } from './response.ts';
import { openResyncs, packageResyncAfter, resyncAfter, scopesToRequest } from './resync.ts';
import { type ExchangeWrite, saveExchanges } from './exchange-store.ts';
import { nextToken } from './token.ts';

interface ExchangeRequest extends IdentifiedRequest {
  session: Session;
  now: Date;
  confirmsLastResponse: boolean;
  suspicion: SuspectedClone | null;
}

interface ReceivedExchange extends ExchangeRequest {
  incoming: Incoming;
  messages: readonly BValue[];
  facts: Facts;
  ack: Acknowledged;
  packageIds: readonly PackageIds[];
  withResult: ReadonlySet<number>;
  intervals: IntervalsState | null;
}

/** Larger payloads get a separate transaction, so that they do not delay other exchanges. */
const MAX_SHARED_BYTES = 256 * 1024;

/** Saves the whole exchange in one transaction. Null, with nothing saved, after a conflict with another. */
export async function ingestPayload(deps: ExchangeDeps, request: ExchangeRequest): Promise<Buffer | null> {
  const { session, now } = request;
  const received = await receive(deps, request);
  const plan = await planFor(deps.db, received);
  const change = sessionChange(received, plan);
  const resync = resyncAfter(session, plan.resyncRequest, received.facts.faults.rejectedTypes, now);
  const saved = await save(deps, { ...received, resync }, change);
  if (!saved) return null;
  await logIgnoredResults(deps, session, change.results, saved.accepted, now);
  recordExchange(deps, received, change, saved);
  const messages = await buildMessages(deps.db, session, plan.slots, saved.sent);
  const { inNext: nextExpected, token, clientTypesDigest } = change;
  return encodeResponse(await deps.serverUuid(), messages, { nextExpected, token, clientTypesDigest });
}

async function receive(deps: ExchangeDeps, request: ExchangeRequest): Promise<ReceivedExchange> {
  const { session, payload } = request;
  const { outBase, headTries, headSends, controls, sent } = session;
  const incoming = selectIncoming(session.inNext, payload.sequence, payload.messages.length);
  const messages = payload.messages.slice(incoming.skip, incoming.skip + incoming.take);
  const facts = await readFacts(request, messages);
  if (deps.encryptionKeys.length === 0) failRecoveryKeys(facts);
  const state = { outBase, headTries, headSends, queue: outgoingQueue(controls, sent) };
  const ack = acknowledge(state, payload.nextExpected, request.confirmsLastResponse);
  const packageIds = await findPackageIds(deps, session, ack, facts);
  const withResult = new Set(facts.results.map((result) => result.operationId));
  const intervals = incoming.gap ? null : await intervalsAfter(deps, session, withResult, request.now);
  return { ...request, incoming, messages, facts, ack, packageIds, withResult, intervals };
}

/** Facts of pending computers are dropped; archived ones may only finish their operations. */
async function readFacts({ session, body, payload }: ExchangeRequest, messages: readonly BValue[]): Promise<Facts> {
  const { approved, archived } = session;
  const read = body.length <= LARGE_BYTES ? readMessages : readMessagesInTurns;
  const facts = approved || archived ? await read(messages, openResyncs(session)) : emptyFacts();
  const { results, recoveryKeys, auditReports, packageResults } = facts;
  const allowed = approved ? facts : { ...emptyFacts(), results, recoveryKeys, auditReports, packageResults };
  if (payload.clientAcceptedTypes) allowed.inventory.client_types = [...payload.clientAcceptedTypes];
  return allowed;
}

/** Without an encryption key on the server, operations with a recovery key fail and can be repeated later. */
function failRecoveryKeys(facts: Facts): void {
  const lost = new Set(facts.recoveryKeys.map((item) => item.operationId));
  facts.recoveryKeys = [];
  facts.results = facts.results.map((result) =>
    lost.has(result.operationId) ? { ...result, ok: false, text: 'The server has no key to encrypt it with.' } : result,
  );
}

async function findPackageIds(
  deps: ExchangeDeps,
  session: Session,
  ack: Acknowledged,
  facts: Facts,
): Promise<PackageIds[]> {
  const packageIds: PackageIds[] = [];
  // Agents repeat requests without a response, so ignoring those of a flood is safe.
  const waiting = ack.queue.filter((entry) => entry.kind === 'control').length;
  for (const request of facts.packageRequests.slice(0, Math.max(0, MAX_MESSAGES_PER_RESPONSE - waiting))) {
    try {
      const ids = await deps.catalogue.findIds(request, session.accountId);
      packageIds.push({ requestId: request.requestId, ids });
    } catch (error) {
      if (!isUnstorable(error)) throw error;
      rejectMessage(facts, 'add-packages', 'could not be stored');
    }
  }
  return packageIds;
}

async function planFor(db: Sql, received: ReceivedExchange): Promise<ResponsePlan> {
  const { session, payload, incoming, ack, facts, packageIds, withResult, intervals, now, token, suspicion } = received;
  const scopes = scopesToRequest(session, facts.faults.rejectedTypes, now);
  const canResync = scopes.length > 0 && !incoming.gap && !ack.queue.some((entry) => entry.kind === 'operation');
  return planResponse(session, ack, {
    hasGap: incoming.gap,
    withholdsOperations: suspicion !== null && token === null,
    wantedTypes: session.approved ? EVERYTHING : REGISTER_ONLY,
    typesDigest: payload.acceptedTypesDigest,
    intervals,
    packageIds,
    resyncRequest: canResync ? { id: await nextOperationId(db), scopes } : null,
    withResult,
  });
}

const DROPPED_TEXT = 'The computer received this operation several times and could not take it.';

function sessionChange(received: ReceivedExchange, plan: ResponsePlan): SessionChange {
  const { session, payload, incoming, ack, facts, now } = received;
  const { slots, controls, outNext, headSends, resyncRequest } = plan;
  const isMoved = incoming.take > 0 || ack.outBase !== session.outBase;
  const { token, requestDigest, isUnchanged } = nextToken(session, received, isMoved, randomUUID);
  const results = firstResults(facts.results);
  const dropped = ack.dropped?.kind === 'operation' ? ack.dropped.activityId : null;
  // A result proves that the agent handled the operation, however often it was sent.
  const hasResult = results.some(({ operationId }) => operationId === dropped);
  return {
    inNext: incoming.inNext,
    outBase: ack.outBase,
    outNext,
    token,
    requestDigest,
    controls,
    // With an unchanged token the agent cannot confirm that it received this response.
    headTries: isUnchanged ? Math.max(plan.headTries - 1, -1) : plan.headTries,
    headSends,
    clientTypesDigest: payload.clientAcceptedTypes
      ? typeListDigest(payload.clientAcceptedTypes)
      : session.clientTypesDigest,
    servedApproved: session.approved,
    ...packageResyncAfter(session, resyncRequest, now),
    lastSequence: incoming.gap ? session.lastSequence : payload.sequence,
    lastAddress: rateLimitKey(received.address),
    acked: dropped !== null && hasResult ? [...ack.acked, dropped] : ack.acked,
    sends: slots.flatMap((slot) => {
      if (slot.kind !== 'send') return [];
      const { activityId, messageType } = slot.operation;
      return [{ activityId, messageType, position: slot.position }];
    }),
    resends: slots.flatMap((slot) => (slot.kind === 'resend' ? [slot.activityId] : [])),
    dropped: dropped !== null && !hasResult ? { activityId: dropped, text: DROPPED_TEXT } : null,
    results,
  };
}

/** The first result of each operation; ids outside the range of activities are omitted. */
function firstResults(results: readonly OperationResult[]): OperationResult[] {
  const first = new Map<number, OperationResult>();
  for (const result of results) {
    const isPossible = result.operationId >= 1 && result.operationId <= MAX_INT4;
    if (isPossible && !first.has(result.operationId)) first.set(result.operationId, result);
  }
  return [...first.values()];
}

async function save(
  deps: ExchangeDeps,
  {
    session,
    secureIdHash,
    body,
    now,
    facts,
    messages,
    resync,
    intervals,
    suspicion,
  }: ReceivedExchange & Pick<ExchangeWrite, 'resync'>,
  change: SessionChange,
): Promise<SavedExchange | null> {
  const context = { computerId: session.computerId, now, encryptionKeys: deps.encryptionKeys };
  const reported = hasFacts(facts) ? { context, facts } : null;
  const write: ExchangeWrite = { session, change, now, secureIdHash, reported, resync, intervals, suspicion };
  try {
    return body.length <= MAX_SHARED_BYTES ? await deps.store.saveExchange(write) : await saveAlone(deps, write);
  } catch (error) {
    if (!isUnstorable(error)) throw error;
    const sqlState = (error as { code: string }).code;
    deps.logger.warn({ computerId: session.computerId, sqlState }, 'a message cannot be stored');
    const readable = session.approved ? messages : [];
    return saveAlone(deps, { ...write, reported: { context, facts } }, (tx) =>
      saveOneByOne(tx, context, readable, facts),
    );
  }
}

async function saveAlone(
  deps: ExchangeDeps,
  write: ExchangeWrite,
  saveFacts?: Parameters<typeof saveExchanges>[2],
): Promise<SavedExchange | null> {
  const save = () => deps.db.transaction((tx) => saveExchanges(tx, [write], saveFacts));
  const [saved] = await deps.limiter.run(write.session.accountId, save);
  return saved!;
}

function recordExchange(
  { metrics, traces, logger, contacts }: ExchangeDeps,
  { session: { computerId }, now, messages, facts }: ReceivedExchange,
  change: SessionChange,
  saved: SavedExchange,
): void {
  // Both sets cover all exchanges that were saved together.
  const sent = change.sends.flatMap(({ activityId }) => (saved.sent.has(activityId) ? [activityId] : []));
  const results = change.results.filter(({ operationId }) => saved.accepted.has(operationId));
  for (const type of facts.unknownTypes) contacts.unknownType(type);
  metrics.exchanged('accepted');
  metrics.received(messages.map((message) => messageType(message)));
  metrics.faulty(facts.faults.all);
  metrics.sent(sent.length);
  metrics.results(results.map(({ ok }) => ok));
  if (change.dropped) metrics.dropped();
  void traces.record({ computerId, startMs: now.getTime(), sent, results });
  const completed = results.map(({ operationId }) => operationId);
  logger.debug({ computerId, messages: messages.length, sent, completed }, 'exchange');
}
