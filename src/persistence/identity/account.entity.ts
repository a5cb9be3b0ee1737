import { defineEntity, p } from '@mikro-orm/core';

const AccountSchema = defineEntity({
  name: 'Account',
  tableName: 'account',
  properties: {
    id: p.integer().primary(),
    name: p.text(),
    title: p.text(),
    creationTime: p.datetime().onCreate(() => new Date()),
    disabled: p.boolean().default(false),
    disabledReason: p.text().nullable(),
    registrationKey: p.text().nullable(),
    autoRegister: p.boolean().default(false),
    maxPendingComputers: p.integer().default(1000),
    maxMessageBacklog: p.integer().nullable(),
    auditRetentionDays: p.integer().default(-1),
    subdomain: p.text().nullable(),
    salesforceAccountKey: p.text().nullable(),
    tokenEpoch: p.integer().default(0),
  },
});

export class Account extends AccountSchema.class {}
AccountSchema.setClass(Account);
