import type { Sql } from '../../persistence/database/sql.ts';
import { recordEvent } from '../../persistence/events/events.sql.ts';
import type { Webhook } from '../../persistence/events/webhook.entity.ts';

/** Pauses a locked webhook until an administrator resumes it, and raises its alert. */
export async function pauseByServer(tx: Sql, webhook: Webhook, reason: string, now: Date): Promise<void> {
  tx.em.assign(webhook, { status: 'paused', reason, alertSince: now, nextStepAt: null });
  await record(tx, webhook, `Paused the webhook: ${reason}`);
}

/** Ends a locked webhook at the request of its receiver. */
export async function endByReceiver(tx: Sql, webhook: Webhook): Promise<void> {
  const reason = 'The receiver responded with 410 Gone';
  tx.em.assign(webhook, { status: 'ended', reason, nextStepAt: null });
  await record(tx, webhook, `Ended the webhook: ${reason}`);
}

async function record(tx: Sql, { id, account, url }: Webhook, message: string): Promise<void> {
  const actor = { accountId: account.id, personId: null, name: 'Webhook', origin: { address: '', requestId: '' } };
  await recordEvent(tx, actor, { entityType: 'Webhook', entityId: id, entityName: new URL(url).host, message });
}
