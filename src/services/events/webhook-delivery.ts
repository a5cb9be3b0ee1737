import { Webhook as Signer } from 'standardwebhooks';
import { formatCursor, type StoredEvent, toCloudEvent } from '../../domain/events/cloud-events.ts';
import { PAUSED_AFTER_MS, retryDelay } from '../../domain/events/webhooks.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import type { Webhook } from '../../persistence/events/webhook.entity.ts';
import { lockWebhook } from '../../persistence/events/webhooks.repository.ts';
import {
  type DeliveryOutcome,
  type DueDelivery,
  readDueDeliveries,
  readNextAttempt,
  recordOutcomes,
} from '../../persistence/events/webhooks.sql.ts';
import type { EncryptionKey } from '../../process/config.ts';
import type { Clock } from '../common/ports.ts';
import type { Resolve } from './webhook-addresses.ts';
import { takeEvents } from './webhook-intake.ts';
import { endByReceiver, pauseByServer } from './webhook-pause.ts';
import { createSender, type Outcome, type Sender } from './webhook-request.ts';
import { readWebhookSecrets } from './webhook-secrets.ts';

export interface DeliveryDeps {
  db: Database;
  clock: Clock;
  encryptionKeys: readonly EncryptionKey[];
  privateAddresses: boolean;
  /** In place of the system's resolution of names. */
  resolve?: Resolve;
  /** Time limit of one attempt. */
  timeoutMs?: number;
}

interface StepResult {
  /** `deleted`, `paused`, `ended`: nothing is sent until an administrator changes that. */
  state: 'active' | 'paused' | 'ended' | 'deleted';
  /** There is more to do at once. */
  more: boolean;
  /** Until a delivery is due again; null without one. */
  waitMs: number | null;
}

const DELIVERIES = 200;
const AT_ONCE = 8;
/** After this the step ends with what it has. */
const STEP_MS = 20_000;
const MAX_ERROR = 500;

const GONE = 410;

/**
 * One bounded step: gives new events a delivery, sends what is due and records the results, until nothing is left or
 * 20 seconds have passed. Each event is sent at least once: what ends between sending and recording is sent again, with the
 * same id and bytes. @param signal - ends the step early; attempts in progress are not recorded then
 */
export async function deliverWebhook(deps: DeliveryDeps, webhookId: number, signal?: AbortSignal): Promise<StepResult> {
  const sender = createSender({ ...deps, signal });
  const endsAt = performance.now() + STEP_MS;
  const isOver = (): boolean => signal?.aborted === true || performance.now() > endsAt;
  try {
    for (;;) {
      const intake = await deps.db.transaction((tx) => takeEvents(tx, deps.clock, webhookId));
      if (!intake) return { state: 'deleted', more: false, waitMs: null };
      const { webhook } = intake;
      if (webhook.status !== 'active') return { state: webhook.status, more: false, waitMs: null };
      const of = { webhookId, ordered: webhook.ordered, now: deps.clock.now(), limit: DELIVERIES };
      const due = await readDueDeliveries(deps.db, of);
      const outcomes = await sendAll(deps, sender, { webhook, due, isOver, signal });
      const result = await deps.db.transaction((tx) => record(tx, deps, webhookId, outcomes));
      const more = intake.more || result.waitMs === 0;
      if (result.state !== 'active' || !more || isOver()) return { ...result, more: result.state === 'active' && more };
    }
  } finally {
    sender.close();
  }
}

interface Attempt {
  delivery: DueDelivery;
  outcome: Outcome;
  isLost?: true;
}

interface Sending {
  webhook: Webhook;
  due: readonly DueDelivery[];
  isOver: () => boolean;
  signal: AbortSignal | undefined;
}

/** In order one after the other up to the first failure, otherwise some at once. Nothing after a 410. */
async function sendAll(
  deps: DeliveryDeps,
  sender: Sender,
  { webhook, due, isOver, signal }: Sending,
): Promise<Attempt[]> {
  const now = deps.clock.now();
  const secrets = readWebhookSecrets(deps.encryptionKeys, webhook, now).map((secret) => new Signer(secret));
  const attempts: Attempt[] = [];
  const waiting = due.values();
  let stopped = false;
  const run = async (): Promise<void> => {
    for (const delivery of waiting) {
      if (stopped || isOver() || delivery.next_attempt_at! > now) return;
      const attempt = await attemptOne(deps, sender, { webhook, delivery, secrets });
      const { status, error } = attempt.outcome;
      if (error !== null && signal?.aborted) return;
      attempts.push(attempt);
      if (status === GONE || (webhook.ordered && error !== null && !attempt.isLost)) stopped = true;
    }
  };
  await Promise.all(Array.from({ length: webhook.ordered ? 1 : AT_ONCE }, run));
  return attempts;
}

async function attemptOne(
  { clock }: DeliveryDeps,
  sender: Sender,
  { webhook, delivery, secrets }: { webhook: Webhook; delivery: DueDelivery; secrets: readonly Signer[] },
): Promise<Attempt> {
  const event = eventOf(webhook, delivery);
  if (!event) {
    const outcome = { status: null, error: 'the event was deleted before it could be delivered', retryAfterMs: 0 };
    return { delivery, outcome, isLost: true };
  }
  const body = Buffer.from(JSON.stringify(toCloudEvent(event)));
  const id = formatCursor(event);
  const at = clock.now();
  const outcome = await sender.send(
    webhook.url,
    {
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'user-agent': 'Flotilla',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': secrets.map((secret) => secret.sign(id, at, body)).join(' '),
    },
    body,
  );
  return { delivery, outcome };
}

/** Null when it was deleted. A test's event is made from its delivery, so that it has the same bytes each time. */
function eventOf(webhook: Webhook, delivery: DueDelivery): StoredEvent | null {
  const { kind, event_position: position, event_id: id, event_type: type } = delivery;
  const common = { position, id, type, account_id: webhook.account.id };
  if (kind === 'test') {
    const data = { webhook_id: webhook.id };
    return { ...common, time: delivery.created_at, activity_id: null, computer_id: null, data };
  }
  if (delivery.found === null) return null;
  const { time, activity_id, computer_id, data } = delivery;
  return { ...common, time: time!, activity_id, computer_id, data };
}

/** Records attempts, and pauses or ends the webhook where they are a reason for it. */
async function record(
  tx: Sql,
  { clock }: DeliveryDeps,
  webhookId: number,
  attempts: readonly Attempt[],
): Promise<StepResult> {
  const webhook = await lockWebhook(tx, null, webhookId);
  if (!webhook) return { state: 'deleted', more: false, waitMs: null };
  const now = clock.now();
  if (attempts.length > 0)
    await recordOutcomes(
      tx,
      attempts.map((attempt) => toOutcome(attempt, now)),
      now,
    );
  if (webhook.status === 'active') await noteSuccessOrFailure(tx, webhook, attempts, now);
  if (webhook.status !== 'active') return { state: webhook.status, more: false, waitMs: null };
  const next = await readNextAttempt(tx, webhookId, webhook.ordered);
  const nextStepAt = webhook.replayPosition === null ? next : now;
  tx.em.assign(webhook, { nextStepAt });
  const waitMs = nextStepAt && Math.max(0, nextStepAt.getTime() - now.getTime());
  return { state: 'active', more: false, waitMs };
}

function toOutcome({ delivery, outcome, isLost }: Attempt, now: Date): DeliveryOutcome {
  const { status: responseStatus, error, retryAfterMs } = outcome;
  const common = { id: delivery.id, responseStatus, error: error?.slice(0, MAX_ERROR) ?? null };
  if (error === null) return { ...common, status: 'delivered', nextAttemptAt: null };
  if (isLost) return { ...common, status: 'failed', nextAttemptAt: null };
  const delay = retryDelay(delivery.attempts + 1, Math.random(), retryAfterMs);
  return { ...common, status: 'pending', nextAttemptAt: new Date(now.getTime() + delay) };
}

async function noteSuccessOrFailure(tx: Sql, webhook: Webhook, attempts: readonly Attempt[], now: Date): Promise<void> {
  const tried = attempts.filter(({ isLost }) => !isLost);
  if (tried.length === 0) return;
  if (tried.some(({ outcome }) => outcome.status === GONE)) return endByReceiver(tx, webhook);
  if (tried.some(({ outcome }) => outcome.error === null)) {
    tx.em.assign(webhook, { failingSince: null });
    return;
  }
  const failingSince = webhook.failingSince ?? now;
  tx.em.assign(webhook, { failingSince });
  if (now.getTime() - failingSince.getTime() < PAUSED_AFTER_MS) return;
  await pauseByServer(tx, webhook, 'Nothing could be delivered for five days', now);
}
