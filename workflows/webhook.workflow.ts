import { condition, continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { WebhookActivities } from './contracts/activities.ts';
import type { WebhookInput, WebhookProgress } from './contracts/webhook.contract.ts';
import { onWakeUp } from './support/wake-up.ts';

/** Missing heartbeats reveal a dead worker; another one then repeats the step. */
const { deliverWebhook } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '60s',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '1m' },
});

/** Finds a lost wake-up, and that the webhook was removed or paused. */
const LONGEST_WAIT_MS = 60 * 60_000;
const SHORTEST_WAIT_MS = 100;

/**
 * Runs a step for each wake-up and when a delivery is due again, and ends when the webhook is not active any more; the
 * dispatcher starts it again. @see docs/architecture.md#webhooks
 */
export async function runWebhook(input: WebhookInput): Promise<Omit<WebhookProgress, 'more' | 'waitMs'>> {
  let isWoken = false;
  onWakeUp(() => {
    isWoken = true;
  });
  for (;;) {
    isWoken = false;
    const { state, more, waitMs } = await deliverWebhook(input);
    if (state !== 'active') return { state };
    // The first step of the next run does what a wake-up would have led to.
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof runWebhook>(input);
    if (more) continue;
    const untilDue = Math.max(waitMs ?? LONGEST_WAIT_MS, SHORTEST_WAIT_MS);
    await condition(() => isWoken, Math.min(untilDue, LONGEST_WAIT_MS));
  }
}
