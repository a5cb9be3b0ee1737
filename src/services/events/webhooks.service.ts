import { DomainError } from '../../domain/common/errors.ts';
import { type EventType, formatCursor } from '../../domain/events/cloud-events.ts';
import {
  type DeliveryStatus,
  MAX_WEBHOOKS,
  PREVIOUS_SECRET_MS,
  TEST_EVENT,
  type WebhookStatus,
} from '../../domain/events/webhooks.ts';
import { wakeDispatchers } from '../../persistence/activities/outbox.sql.ts';
import { lockExclusive } from '../../persistence/database/advisory-locks.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import { readFeedState } from '../../persistence/events/cloud-events.sql.ts';
import { recordEvent } from '../../persistence/events/events.sql.ts';
import { Webhook } from '../../persistence/events/webhook.entity.ts';
import * as webhooks from '../../persistence/events/webhooks.repository.ts';
import {
  hastenDeliveries,
  insertTestDelivery,
  listDeliveries,
  nextWebhookId,
  redeliver,
} from '../../persistence/events/webhooks.sql.ts';
import type { EncryptionKey } from '../../process/config.ts';
import { changedParts, fieldError } from '../common/fields.ts';
import type { Caller, Clock } from '../common/ports.ts';
import { prepareComputerQuery } from '../query/computer-queries.ts';
import { resolveCursor } from './event-feed.service.ts';
import { isPrivateLiteral } from './webhook-addresses.ts';
import { isWebhookUrl } from './webhook-request.ts';
import { createWebhookSecret } from './webhook-secrets.ts';

interface WebhookContent {
  url: string;
  /** Null for all. */
  types: EventType[] | null;
  /** Only events about the computers that match; null for all. */
  query: string | null;
  ordered: boolean;
}

type WebhookChange = { [part in keyof WebhookContent]?: WebhookContent[part] | undefined } & {
  status?: Exclude<WebhookStatus, 'ended'> | undefined;
};

export type WebhooksService = ReturnType<typeof createWebhooksService>;

interface Deps {
  db: Database;
  clock: Clock;
  encryptionKeys: readonly EncryptionKey[];
  privateAddresses: boolean;
}

/** Where events are sent; all calls are for holders of ManageAccount. @see docs/events.md#webhooks */
export function createWebhooksService(deps: Deps) {
  const { db, clock } = deps;
  /** Changes a locked webhook, records it, and lets the dispatcher look for work. */
  const change = <T>(caller: Caller, id: number, work: (tx: Sql, webhook: Webhook) => Promise<[T, string]>) =>
    db.transaction(async (tx) => {
      const webhook = await webhooks.lockWebhook(tx, caller.accountId, id);
      if (!webhook) throw unknownWebhook();
      const [result, message] = await work(tx, webhook);
      tx.em.assign(webhook, { nextStepAt: clock.now() });
      await recordEvent(tx, caller, eventOf(webhook, message));
      await wakeDispatchers(tx);
      return result;
    });
  return {
    /** One page, newest first. */
    list: (caller: Caller, page: PageRequest) => webhooks.listWebhooks(db, caller.accountId, page),
    /** @throws {DomainError} UnknownWebhook */
    async get(caller: Caller, id: number): Promise<Webhook> {
      const webhook = await webhooks.findWebhook(db, caller.accountId, id);
      return webhook ?? raise(unknownWebhook());
    },
    /** Returns the secret, which cannot be read later. @throws InvalidParameter, InvalidQueryError, WebhookLimitReached */
    create: (caller: Caller, content: WebhookContent) => create(deps, caller, content),
    /** @throws {DomainError} UnknownWebhook, InvalidParameter, InvalidQueryError */
    update: (caller: Caller, id: number, changes: WebhookChange): Promise<Webhook> =>
      change(caller, id, async (tx, webhook) => {
        const { status, ...content } = changes;
        await checkContent(deps, caller, content);
        tx.em.assign(webhook, content, { ignoreUndefined: true });
        if (status !== undefined && status !== webhook.status) await setStatus(tx, webhook, status, clock.now());
        const parts = changedParts(changes, WORDS).join(', ') || 'nothing';
        return [webhook, `Changed ${parts} of the webhook to ${hostOf(webhook)}`];
      }),
    /** With its deliveries. @throws {DomainError} UnknownWebhook */
    remove: (caller: Caller, id: number): Promise<void> =>
      db.transaction(async (tx) => {
        const webhook = await webhooks.lockWebhook(tx, caller.accountId, id);
        if (!webhook) throw unknownWebhook();
        tx.em.remove(webhook);
        await recordEvent(tx, caller, eventOf(webhook, `Removed the webhook to ${hostOf(webhook)}`));
      }),
    /** Adds the delivery of an event for this webhook alone. @throws {DomainError} UnknownWebhook */
    test: (caller: Caller, id: number) =>
      change(caller, id, async (tx, webhook) => {
        const delivery = await insertTestDelivery(tx, { webhookId: id, type: TEST_EVENT, now: clock.now() });
        return [delivery, `Sent a test to the webhook to ${hostOf(webhook)}`];
      }),
    /** Returns the new secret, and until when the previous one signs as well. @throws {DomainError} UnknownWebhook */
    rotateSecret: (caller: Caller, id: number) =>
      change(caller, id, async (tx, webhook) => {
        const { secret, encrypted } = createWebhookSecret(deps.encryptionKeys, id);
        const previousUntil = new Date(clock.now().getTime() + PREVIOUS_SECRET_MS);
        const previous = { previousKeyId: webhook.keyId, previousSecret: webhook.secret, previousUntil };
        tx.em.assign(webhook, { ...encrypted, ...previous });
        return [{ secret, previousUntil }, `Replaced the secret of the webhook to ${hostOf(webhook)}`];
      }),
    /** One page, newest first. @throws {DomainError} UnknownWebhook */
    async deliveries(caller: Caller, id: number, status: DeliveryStatus | null, page: PageRequest) {
      if (!(await webhooks.findWebhook(db, caller.accountId, id))) throw unknownWebhook();
      return listDeliveries(db, id, status, page);
    },
    /** Returns how many were not pending. @throws {DomainError} UnknownWebhook, UnknownDelivery for other ids */
    redeliver: (caller: Caller, id: number, ids: readonly number[]): Promise<number> =>
      change(caller, id, async (tx, webhook) => {
        const { known, changed } = await redeliver(tx, { webhookId: id, ids, now: clock.now() });
        if (known < ids.length) throw unknownDelivery();
        return [changed, `Requested ${ids.length} deliveries of the webhook to ${hostOf(webhook)} again`];
      }),
    /** Returns the range. Replaces a replay that goes on. @throws UnknownWebhook, InvalidParameter, EventsExpired */
    replay: (caller: Caller, id: number, range: { after: string; before: string }) =>
      change(caller, id, async (tx, webhook) => {
        const state = await readFeedState(tx);
        const after = resolveCursor(range.after, state, 'body.after');
        const before = resolveCursor(range.before, state, 'body.before');
        tx.em.assign(webhook, {
          replayPosition: after.position,
          replayId: after.id,
          replayEndPosition: before.position,
          replayEndId: before.id,
        });
        const texts = { after: formatCursor(after), before: formatCursor(before) };
        return [
          texts,
          `Requested a replay from ${texts.after} to ${texts.before} by the webhook to ${hostOf(webhook)}`,
        ];
      }),
  };
}

async function create(deps: Deps, caller: Caller, content: WebhookContent) {
  const { db, clock, encryptionKeys } = deps;
  await checkContent(deps, caller, content);
  return db.transaction(async (tx) => {
    // Before anything is written, so that this transaction does not hold back the horizon.
    const { horizon } = await readFeedState(tx);
    await lockExclusive(tx, 'webhooks', caller.accountId);
    if ((await webhooks.countWebhooks(tx, caller.accountId)) >= MAX_WEBHOOKS) {
      throw new DomainError('WebhookLimitReached', `An account can have up to ${MAX_WEBHOOKS} webhooks`);
    }
    const id = await nextWebhookId(tx);
    const { secret, encrypted } = createWebhookSecret(encryptionKeys, id);
    const webhook = tx.em.create(Webhook, {
      ...NEW,
      ...content,
      ...encrypted,
      id,
      account: caller.accountId,
      creatorId: caller.personId,
      cursorPosition: horizon,
      createdAt: clock.now(),
    });
    await tx.em.flush();
    await recordEvent(tx, caller, eventOf(webhook, `Created a webhook to ${hostOf(webhook)}`));
    await wakeDispatchers(tx);
    return { webhook, secret };
  });
}

const NEW = {
  status: 'active',
  reason: null,
  previousKeyId: null,
  previousSecret: null,
  previousUntil: null,
  cursorId: 0,
  replayPosition: null,
  replayId: null,
  replayEndPosition: null,
  replayEndId: null,
  failingSince: null,
  alertSince: null,
  nextStepAt: null,
  backlogFull: false,
} as const;

const WORDS = { url: 'the URL', types: 'the types', query: 'the query', ordered: 'the order', status: 'the status' };

async function setStatus(tx: Sql, webhook: Webhook, status: 'active' | 'paused', now: Date): Promise<void> {
  if (status === 'paused') {
    tx.em.assign(webhook, { status, reason: 'An administrator has paused it' });
    return;
  }
  tx.em.assign(webhook, { status, reason: null, failingSince: null, alertSince: null, backlogFull: false });
  await hastenDeliveries(tx, webhook.id, now);
}

async function checkContent(deps: Deps, caller: Caller, { url, query }: Partial<WebhookChange>): Promise<void> {
  if (url !== undefined) checkUrl(url, deps.privateAddresses);
  if (query) await prepareComputerQuery(deps, caller.accountId, query, 'body.query');
}

function checkUrl(text: string, privateAddresses: boolean): void {
  const url = URL.parse(text);
  if (!url || !isWebhookUrl(url) || text.includes('#')) {
    throw fieldError('body.url', 'must be an https or http URL without user information and fragment');
  }
  if (!privateAddresses && isPrivateLiteral(url)) throw fieldError('body.url', 'must not have a private address');
}

/** Without path and query, which can contain secrets. */
function hostOf({ url }: Pick<Webhook, 'url'>): string {
  return new URL(url).host;
}

function eventOf(webhook: Webhook, message: string) {
  return { entityType: 'Webhook' as const, entityId: webhook.id, entityName: hostOf(webhook), message };
}

function unknownDelivery(): DomainError {
  return new DomainError('UnknownDelivery', 'The webhook has no such delivery', {
    details: [{ path: 'body.delivery_ids', message: 'must be ids of deliveries of this webhook' }],
    namedInBody: true,
  });
}

function unknownWebhook(): DomainError {
  return new DomainError('UnknownWebhook', 'There is no such webhook');
}

function raise(error: Error): never {
  throw error;
}
