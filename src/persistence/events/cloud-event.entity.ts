import { defineEntity, p } from '@mikro-orm/core';

export const CloudEventFeedSchema = defineEntity({
  name: 'CloudEventFeed',
  tableName: 'cloud_event_feed',
  properties: {
    id: p.integer().autoincrement(false).primary(),
    base: p.bigint('number').defaultRaw('0'),
    purgedPosition: p.bigint('number').defaultRaw('0'),
    purgedId: p.bigint('number').defaultRaw('0'),
  },
  checks: [{ name: 'cloud_event_feed_id_check', expression: 'id = 1' }],
});

/** Written by triggers. */
export const CloudEventSchema = defineEntity({
  name: 'CloudEvent',
  tableName: 'cloud_event',
  properties: {
    position: p.bigint('number').primary(),
    id: p.bigint('number').generated('by default as identity').autoincrement().primary(),
    accountId: p.integer(),
    time: p.datetime().defaultRaw('now()'),
    type: p.text(),
    activityId: p.integer().strictNullable(),
    computerId: p.integer().strictNullable(),
    data: p.json<unknown>(),
  },
  indexes: [{ name: 'cloud_event_account', properties: ['accountId', 'position', 'id'] }],
});
