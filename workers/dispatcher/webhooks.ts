import type { Client } from '@temporalio/client';
import type { Database } from '../../src/persistence/database/sql.ts';
import { readWebhookWork, type WebhookWork } from '../../src/persistence/events/webhooks.sql.ts';
import { ConcurrencyLimiter } from '../../src/process/admission/concurrency-limiter.ts';
import { CALL_LIMIT_MS } from '../../temporal/client/connection.ts';
import { WAKE_UP_SIGNAL } from '../../workflows/contracts/activity.contract.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/contracts/search-attributes.ts';
import { TASK_QUEUES } from '../../workflows/contracts/task-queues.ts';
import { WEBHOOK_WORKFLOW, type WebhookInput, webhookWorkflowId } from '../../workflows/contracts/webhook.contract.ts';
import type { Poll } from './loop.ts';

interface WebhooksDeps {
  db: Database;
  client: Client;
  clock: { now(): Date };
  isLeader: () => boolean;
}

/** While there are active webhooks: their events are not notified. */
const ACTIVE_POLL_MS = 200;
/** Between two signals to one webhook: a step that is still running takes new events by itself. */
const SIGNAL_EVERY_MS = 200;
const CONCURRENT = 20;
/** After what an administrator waits for, beside reports. */
const PRIORITY = 4;

/** Starts and wakes the workflows of webhooks that have work. Only the leader does it. */
export function webhooksPoll(deps: WebhooksDeps): Poll {
  const signaled = new Map<number, number>();
  return async () => {
    if (!deps.isLeader()) return false;
    const { active, due } = await readWebhookWork(deps.db, deps.clock.now());
    const now = performance.now();
    for (const [id, at] of signaled) if (now - at >= SIGNAL_EVERY_MS) signaled.delete(id);
    const chosen = due.filter(({ id }) => !signaled.has(id));
    if (chosen.length > 0) {
      await deps.client.withDeadline(Date.now() + CALL_LIMIT_MS, () => wakeAll(deps.client, chosen));
      for (const { id } of chosen) signaled.set(id, now);
    }
    return active > 0 && ACTIVE_POLL_MS;
  };
}

/** Accounts take turns. @throws the first error, once all calls have ended */
async function wakeAll(client: Client, webhooks: WebhookWork['due']): Promise<void> {
  const limiter = new ConcurrencyLimiter({ concurrency: CONCURRENT });
  const calls = webhooks.map((webhook) => limiter.run(webhook.accountId, () => wake(client, webhook)));
  const failed = (await Promise.allSettled(calls)).find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

async function wake(client: Client, { id, accountId, url }: WebhookWork['due'][number]): Promise<void> {
  await client.workflow.signalWithStart<(input: WebhookInput) => Promise<unknown>>(WEBHOOK_WORKFLOW, {
    workflowId: webhookWorkflowId(id),
    taskQueue: TASK_QUEUES.schedule,
    args: [{ webhook: id }],
    signal: WAKE_UP_SIGNAL,
    signalArgs: [],
    typedSearchAttributes: [{ key: SEARCH_ATTRIBUTES.accountId, value: String(accountId) }],
    staticSummary: `Webhook ${id} to ${new URL(url).host.slice(0, 100)}`,
    priority: { priorityKey: PRIORITY, fairnessKey: `acct-${accountId}` },
  });
}
