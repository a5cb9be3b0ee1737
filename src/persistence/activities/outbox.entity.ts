import { defineEntity, p } from '@mikro-orm/core';

export const OutboxCommandSchema = defineEntity({
  name: 'OutboxCommand',
  tableName: 'outbox',
  properties: {
    id: p.bigint('number').generated('by default as identity').primary(),
    kind: p.enum(['start', 'cancel', 'schedule_sync']),
    key: p.text(),
    traceparent: p.text().strictNullable(),
    creationTime: p.datetime().defaultRaw('now()'),
    accountId: p.integer().default(0),
  },
  indexes: [
    {
      name: 'outbox_turn',
      properties: ['accountId', 'id'],
      where: `kind = ANY (ARRAY['start'::text, 'cancel'::text])`,
    },
  ],
});

export class OutboxCommand extends OutboxCommandSchema.class {}
OutboxCommandSchema.setClass(OutboxCommand);
