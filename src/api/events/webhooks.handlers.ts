import { formatCursor } from '../../domain/events/cloud-events.ts';
import type { WebhooksService } from '../../services/events/webhooks.service.ts';
import { formatTime } from '../common/time.ts';
import type { Handlers, Schemas, Services } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function webhooksHandlers({ webhooks }: Services) {
  return {
    listWebhooks: async (context) =>
      envelope(context, await webhooks.list(context.caller, pageOf(context)), toWebhookResponse),
    createWebhook: async ({ caller, body }) => {
      const { url, types = null, query = null, ordered = false } = body;
      const { webhook, secret } = await webhooks.create(caller, { url, types, query, ordered });
      return { webhook: toWebhookResponse(webhook), secret };
    },
    getWebhook: async ({ caller, params }) => toWebhookResponse(await webhooks.get(caller, params.webhook_id)),
    updateWebhook: async ({ caller, params, body }) =>
      toWebhookResponse(await webhooks.update(caller, params.webhook_id, body)),
    deleteWebhook: ({ caller, params }) => webhooks.remove(caller, params.webhook_id),
    testWebhook: async ({ caller, params }) => toDeliveryResponse(await webhooks.test(caller, params.webhook_id)),
    rotateWebhookSecret: async ({ caller, params }) => {
      const { secret, previousUntil } = await webhooks.rotateSecret(caller, params.webhook_id);
      return { secret, previous_secret_expiry_time: formatTime(previousUntil) };
    },
    listWebhookDeliveries: async (context) => {
      const { caller, params, query } = context;
      const page = await webhooks.deliveries(caller, params.webhook_id, query.status ?? null, pageOf(context));
      return envelope(context, page, toDeliveryResponse);
    },
    redeliverWebhook: async ({ caller, params, body }) => ({
      redelivered: await webhooks.redeliver(caller, params.webhook_id, body.delivery_ids),
    }),
    replayWebhook: async ({ caller, params, body }) => {
      const { after, before = 'latest' } = body;
      return webhooks.replay(caller, params.webhook_id, { after, before });
    },
  } satisfies Handlers;
}

function toWebhookResponse(webhook: Awaited<ReturnType<WebhooksService['get']>>): Schemas['Webhook'] {
  const { id, url, types, query, ordered, status, reason, creatorId } = webhook;
  return {
    id,
    url,
    types,
    query,
    ordered,
    status,
    reason,
    creator_id: creatorId,
    creation_time: formatTime(webhook.createdAt),
    failing_since: formatTime(webhook.failingSince),
    cursor: formatCursor({ position: webhook.cursorPosition, id: webhook.cursorId }),
  };
}

type Delivery = Awaited<ReturnType<WebhooksService['test']>>;

function toDeliveryResponse(delivery: Delivery): Schemas['WebhookDelivery'] {
  return {
    id: delivery.id,
    event_id: formatCursor({ position: delivery.event_position, id: delivery.event_id }),
    event_type: delivery.event_type,
    status: delivery.status,
    attempts: delivery.attempts,
    next_attempt_time: formatTime(delivery.next_attempt_at),
    response_status: delivery.response_status,
    error: delivery.error,
    creation_time: formatTime(delivery.created_at),
    completion_time: formatTime(delivery.completed_at),
  };
}
