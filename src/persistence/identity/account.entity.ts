import { defineEntity, p } from '@mikro-orm/core';
import type { AgentIntervals } from '../../domain/agents/intervals.ts';

export const AccountSchema = defineEntity({
  name: 'Account',
  tableName: 'account',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    name: p.text().unique('account_name_key'),
    title: p.text(),
    creationTime: p.datetime().defaultRaw('now()'),
    disabled: p.boolean().default(false),
    disabledReason: p.text().strictNullable(),
    registrationKey: p.text().strictNullable(),
    autoRegister: p.boolean().default(false),
    maxPendingComputers: p.integer().default(1000),
    maxMessageBacklog: p.integer().strictNullable(),
    auditRetentionDays: p.integer().default(-1),
    subdomain: p.text().strictNullable(),
    salesforceAccountKey: p.text().strictNullable(),
    tokenEpoch: p.integer().default(0),
    agentIntervals: p.json<AgentIntervals>().strictNullable(),
  },
  checks: [{ name: 'account_max_message_backlog_check', expression: 'max_message_backlog >= 0' }],
});

export class Account extends AccountSchema.class {}
AccountSchema.setClass(Account);
