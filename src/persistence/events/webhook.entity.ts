import { defineEntity, p } from '@mikro-orm/core';
import type { EventType } from '../../domain/events/cloud-events.ts';
import type { DeliveryKind, DeliveryStatus, WebhookStatus } from '../../domain/events/webhooks.ts';
import { Account } from '../identity/account.entity.ts';

export const WebhookSchema = defineEntity({
  name: 'Webhook',
  tableName: 'webhook',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').ref().index('webhook_account'),
    creatorId: p.integer(),
    url: p.text(),
    types: p.array().$type<EventType[]>().strictNullable(),
    query: p.text().strictNullable(),
    ordered: p.boolean(),
    status: p.text().$type<WebhookStatus>(),
    reason: p.text().strictNullable(),
    keyId: p.text(),
    secret: p.blob().$type<Buffer>(),
    previousKeyId: p.text().strictNullable(),
    previousSecret: p.blob().$type<Buffer>().strictNullable(),
    previousUntil: p.datetime().strictNullable(),
    cursorPosition: p.bigint('number'),
    cursorId: p.bigint('number'),
    replayPosition: p.bigint('number').strictNullable(),
    replayId: p.bigint('number').strictNullable(),
    replayEndPosition: p.bigint('number').strictNullable(),
    replayEndId: p.bigint('number').strictNullable(),
    failingSince: p.datetime().strictNullable(),
    alertSince: p.datetime().strictNullable(),
    nextStepAt: p.datetime().strictNullable(),
    backlogFull: p.boolean().default(false),
    createdAt: p.datetime(),
  },
  checks: [
    { name: 'webhook_status_check', expression: `status = ANY (ARRAY['active'::text, 'paused'::text, 'ended'::text])` },
  ],
});

export class Webhook extends WebhookSchema.class {}
WebhookSchema.setClass(Webhook);

export const WebhookDeliverySchema = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_delivery',
  properties: {
    id: p.bigint('number').generated('by default as identity').primary(),
    webhook: () => p.manyToOne(Webhook).deleteRule('cascade').updateRule('no action').ref(),
    eventPosition: p.bigint('number'),
    eventId: p.bigint('number'),
    eventType: p.text(),
    kind: p.text().$type<DeliveryKind>(),
    status: p.text().$type<DeliveryStatus>(),
    attempts: p.integer().default(0),
    nextAttemptAt: p.datetime().strictNullable(),
    responseStatus: p.integer().strictNullable(),
    error: p.text().strictNullable(),
    createdAt: p.datetime(),
    completedAt: p.datetime().strictNullable(),
  },
  indexes: [
    { name: 'webhook_delivery_webhook', properties: ['webhook', 'id'] },
    {
      name: 'webhook_delivery_due',
      properties: ['webhook', 'nextAttemptAt', 'id'],
      where: `status = 'pending'::text`,
    },
    { name: 'webhook_delivery_completed', properties: ['completedAt'], where: 'completed_at IS NOT NULL' },
  ],
  checks: [
    {
      name: 'webhook_delivery_status_check',
      expression: `status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])`,
    },
  ],
});

export class WebhookDelivery extends WebhookDeliverySchema.class {}
WebhookDeliverySchema.setClass(WebhookDelivery);
