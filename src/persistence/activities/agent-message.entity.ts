import { defineEntity, p } from '@mikro-orm/core';

export const AgentMessageSchema = defineEntity({
  name: 'AgentMessage',
  tableName: 'agent_message',
  properties: {
    activityId: p.integer().autoincrement(false).primary(),
    batchId: p.integer().fieldName('lane_id').index('agent_message_lane'),
    computerId: p.integer(),
    payloadId: p.bigint('number'),
    state: p.enum(['held', 'queued', 'sent', 'acked', 'withdrawn', 'dropped']),
    deliverAt: p.datetime(),
    deliverBefore: p.datetime().strictNullable(),
    sentAt: p.datetime().strictNullable(),
    position: p.bigint('number').strictNullable(),
    sendCount: p.integer().default(0),
  },
  indexes: [
    { name: 'agent_message_held', properties: ['computerId', 'activityId'], where: `state = 'held'::text` },
    {
      name: 'agent_message_pending',
      properties: ['computerId', 'activityId'],
      where: `state = ANY (ARRAY['held'::text, 'queued'::text, 'sent'::text])`,
    },
  ],
});

export const PendingEventSchema = defineEntity({
  name: 'PendingEvent',
  tableName: 'agent_inbox',
  properties: {
    batchId: p.integer().fieldName('lane_id').primary(),
    id: p.bigint('number').generated('by default as identity').autoincrement().primary(),
    activityId: p.integer().strictNullable(),
    kind: p.enum(['delivered', 'result', 'gone', 'cancel']),
    ok: p.boolean().strictNullable(),
    code: p.integer().strictNullable(),
    body: p.text().strictNullable(),
    at: p.datetime().defaultRaw('now()'),
  },
  indexes: [
    { name: 'agent_inbox_cancel', properties: ['batchId', 'activityId'], where: `kind = 'cancel'::text` },
    { name: 'agent_inbox_operation', properties: ['activityId'], where: `kind <> 'delivered'::text` },
  ],
});
