import { DomainError } from '../../domain/common/errors.ts';
import { isBefore } from '../../domain/events/cloud-events.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { type EventSelection, findEvents, readFeedState } from '../../persistence/events/cloud-events.sql.ts';
import type { Webhook } from '../../persistence/events/webhook.entity.ts';
import { lockWebhook } from '../../persistence/events/webhooks.repository.ts';
import { countPending, insertDeliveries } from '../../persistence/events/webhooks.sql.ts';
import { Account } from '../../persistence/identity/account.entity.ts';
import { findRights } from '../../persistence/identity/rights.sql.ts';
import type { Clock } from '../common/ports.ts';
import { toPermissions } from '../identity/login/authenticator.ts';
import { prepareComputerQuery } from '../query/computer-queries.ts';
import { viewOf } from './streams.ts';
import { pauseByServer } from './webhook-pause.ts';

/** Events of one transaction. */
const EVENTS = 200;
/** With so many pending deliveries, events wait in the feed. */
const MAX_PENDING = 1_000;
/** A step that has not ended by then counts as lost, and the dispatcher has another one run. */
const STEP_LIMIT_MS = 60_000;

interface Intake {
  webhook: Webhook;
  /** There may be more events. */
  more: boolean;
}

/**
 * Gives events after the cursor a delivery, and moves the cursor, in one transaction. Pauses a webhook whose creator may
 * not see events any more. @returns null without the webhook
 */
export async function takeEvents(tx: Sql, clock: Clock, webhookId: number): Promise<Intake | null> {
  // Before the lock, which gives this transaction an id and so would hold back the horizon.
  const { horizon } = await readFeedState(tx);
  const webhook = await lockWebhook(tx, null, webhookId);
  if (!webhook) return null;
  if (webhook.status !== 'active') return { webhook, more: false };
  const now = clock.now();
  const selection = await select(tx, clock, webhook);
  if (typeof selection === 'string') {
    await pauseByServer(tx, webhook, selection, now);
    return { webhook, more: false };
  }
  const room = MAX_PENDING - (await countPending(tx, webhookId));
  let more = false;
  if (room > 0) {
    const limit = Math.min(room, EVENTS);
    more = await takeNew(tx, webhook, selection, { horizon, limit, now });
    if (webhook.replayPosition !== null) more = (await takeReplayed(tx, webhook, selection, { limit, now })) || more;
  }
  tx.em.assign(webhook, { backlogFull: room <= 0, nextStepAt: new Date(now.getTime() + STEP_LIMIT_MS) });
  return { webhook, more };
}

async function takeNew(
  tx: Sql,
  webhook: Webhook,
  selection: EventSelection,
  { horizon, limit, now }: { horizon: number; limit: number; now: Date },
): Promise<boolean> {
  const after = { position: webhook.cursorPosition, id: webhook.cursorId };
  const { rows, cursor, more } = await findEvents(tx, selection, { after, horizon, limit });
  await insertDeliveries(tx, { webhookId: webhook.id, kind: 'event', now }, rows);
  tx.em.assign(webhook, { cursorPosition: cursor.position, cursorId: cursor.id });
  return more;
}

async function takeReplayed(
  tx: Sql,
  webhook: Webhook,
  selection: EventSelection,
  { limit, now }: { limit: number; now: Date },
): Promise<boolean> {
  const after = { position: webhook.replayPosition!, id: webhook.replayId! };
  const end = { position: webhook.replayEndPosition!, id: webhook.replayEndId! };
  // The horizon excludes its position, the end of a replay may be in the middle of one.
  const found = await findEvents(tx, selection, { after, horizon: end.position + 1, limit });
  const rows = found.rows.filter((row) => isBefore(row, end));
  await insertDeliveries(tx, { webhookId: webhook.id, kind: 'replay', now }, rows);
  const more = found.more && isBefore(found.cursor, end);
  tx.em.assign(webhook, more ? { replayPosition: found.cursor.position, replayId: found.cursor.id } : NO_REPLAY);
  return more;
}

const NO_REPLAY = { replayPosition: null, replayId: null, replayEndPosition: null, replayEndId: null };

/** What the creator may see now. @returns why nothing can be sent, as a text */
async function select(tx: Sql, clock: Clock, webhook: Webhook): Promise<EventSelection | string> {
  const { creatorId: personId, types, query } = webhook;
  const accountId = webhook.account.id;
  const { name: accountName } = await tx.em.findOneOrFail(Account, accountId, { fields: ['name'] });
  const rights = await findRights(tx, { personId, accountName, tokenIds: [], accessKey: null });
  if (!rights || rights.account_id === null) return 'Its creator is no longer an administrator';
  if (rights.account_disabled) return 'The account is disabled';
  const { groups, may } = toPermissions(rights);
  try {
    const computers = query === null ? null : await prepareComputerQuery({ db: tx, clock }, accountId, query);
    return { scope: { ...viewOf({ groups }), accountId }, log: may('ViewEventLog'), types, computers };
  } catch (error) {
    // A saved search that it names was removed.
    if (error instanceof DomainError && error.code === 'InvalidQueryError') return 'Its query is no longer valid';
    throw error;
  }
}
