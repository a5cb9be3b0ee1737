import { defineEntity, p } from '@mikro-orm/core';
import type { AgentIntervals } from '../../domain/agents/intervals.ts';
import { Computer } from '../computers/computer.entity.ts';

export const AgentSchema = defineEntity({
  name: 'Agent',
  tableName: 'agent',
  properties: {
    computer: () => p.oneToOne(Computer).owner().deleteRule('cascade').updateRule('no action').ref().primary(),
    version: p.integer().default(0),
    inNext: p.bigint('number').strictNullable(),
    outBase: p.bigint('number').strictNullable(),
    outNext: p.bigint('number').defaultRaw('1'),
    token: p.uuid().strictNullable(),
    requestDigest: p.blob().strictNullable(),
    controls: p.json<unknown>().defaultRaw(`'[]'`),
    headTries: p.smallint().default(0),
    headSends: p.smallint().default(0),
    clientTypesDigest: p.blob().strictNullable(),
    servedApproved: p.boolean().default(false),
    resyncWanted: p.boolean().default(false),
    resyncId: p.bigint('number').strictNullable(),
    resyncAt: p.datetime().strictNullable(),
    registrationDigest: p.blob().index('agent_registration'),
    registeredAtAgent: p.bigint('number').strictNullable(),
    copiesSentAway: p.integer().default(0),
    copiesSentAwayAt: p.datetime().strictNullable(),
    wantedScopes: p.array().default([]),
    askedScopes: p.array().default([]),
    askedId: p.bigint('number').strictNullable(),
    askedAt: p.datetime().strictNullable(),
    lastAddress: p.text().strictNullable(),
    lastSequence: p.bigint('number').strictNullable(),
    intervals: p.json<AgentIntervals>().strictNullable(),
    pollsFast: p.boolean().default(false),
    fastAt: p.datetime().strictNullable(),
  },
  indexes: [{ name: 'agent_fast', properties: ['computer'], where: 'fast_at IS NOT NULL' }],
});

export const AgentIdentitySchema = defineEntity({
  name: 'AgentIdentity',
  tableName: 'agent_identity',
  properties: {
    secureIdHash: p.blob().primary(),
    computerId: p.integer().index('agent_identity_computer'),
    createdAt: p.datetime().defaultRaw('now()'),
  },
});

export const AgentSpareIdentitySchema = defineEntity({
  name: 'AgentSpareIdentity',
  tableName: 'agent_spare_identity',
  properties: {
    secureIdHash: p.blob().primary(),
    computer: () => p.manyToOne(Computer).deleteRule('cascade').ref().index('agent_spare_identity_computer'),
    sentAway: p.boolean().default(false),
    createdAt: p.datetime().defaultRaw('now()'),
  },
});

export const AgentRejectedMessageSchema = defineEntity({
  name: 'AgentRejectedMessage',
  tableName: 'agent_rejected_message',
  properties: {
    computer: () => p.manyToOne(Computer).deleteRule('cascade').ref().primary(),
    type: p.text().primary(),
    reason: p.text(),
    seen: p.integer().default(1),
    lastSeenAt: p.datetime(),
  },
});

export const AgentUnknownTypeSchema = defineEntity({
  name: 'AgentUnknownType',
  tableName: 'agent_unknown_type',
  properties: {
    type: p.text().primary(),
    seen: p.bigint('number'),
    lastSeenAt: p.datetime(),
  },
});
