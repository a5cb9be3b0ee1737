import { defineEntity, p } from '@mikro-orm/core';

export const EventEntrySchema = defineEntity({
  name: 'EventEntry',
  tableName: 'event',
  properties: {
    id: p.bigint('number').generated('by default as identity').primary(),
    accountId: p.integer().strictNullable(),
    creationTime: p.datetime().defaultRaw('now()'),
    personId: p.integer().strictNullable(),
    personName: p.text(),
    entityType: p.text(),
    entityId: p.integer().strictNullable(),
    entityName: p.text(),
    message: p.text(),
    address: p.text(),
    requestId: p.text(),
    searchText: p
      .text()
      .generated('lower(((((message || chr(10)) || entity_name) || chr(10)) || person_name)) stored')
      .strictNullable(),
  },
  indexes: [{ name: 'event_account', properties: ['accountId', 'creationTime', 'id'] }],
});
