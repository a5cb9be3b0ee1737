import { defineEntity, p } from '@mikro-orm/core';

const PersonSchema = defineEntity({
  name: 'Person',
  tableName: 'person',
  properties: {
    id: p.integer().primary(),
    name: p.text(),
    email: p.text(),
    allowableEmails: p.array(),
    identity: p.text(),
    passwordHash: p.text().nullable(),
    timezone: p.text().default('UTC'),
    preferredAccountId: p.integer().nullable(),
    lastLoginTime: p.datetime().nullable(),
    lastLoginHost: p.text().nullable(),
    creationTime: p.datetime().onCreate(() => new Date()),
    tokenEpoch: p.integer().default(0),
  },
});

export class Person extends PersonSchema.class {}
PersonSchema.setClass(Person);
