import { Context } from '@temporalio/activity';
import { type DeliveryDeps, deliverWebhook } from '../../src/services/events/webhook-delivery.ts';
import type { WebhookActivities } from '../../workflows/contracts/activities.ts';

const HEARTBEAT_MS = 2_000;

/** The Temporal activity of webhooks; safe to repeat. A worker that stops ends it early. */
export function createWebhookActivities(deps: DeliveryDeps): WebhookActivities {
  return {
    async deliverWebhook({ webhook }) {
      const context = Context.current();
      const beat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
      try {
        return await deliverWebhook(deps, webhook, context.cancellationSignal);
      } finally {
        clearInterval(beat);
      }
    },
  };
}
