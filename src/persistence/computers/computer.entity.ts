import { defineEntity, p } from '@mikro-orm/core';
import type { Json } from '../../domain/agents/facts.ts';
import { columnsOf, type Reported } from '../database/reported.ts';
import { AccessGroup } from '../identity/access-group.entity.ts';
import { Account } from '../identity/account.entity.ts';

const REPORTED = {
  hostname: p.text().default(''),
  machineId: p.text().strictNullable(),
  totalMemory: p.integer().strictNullable(),
  totalSwap: p.integer().strictNullable(),
  rebootRequired: p.boolean().default(false),
  rebootPackages: p.array().default([]),
  updateManagerPrompt: p.text().strictNullable(),
  distribution: p.text().strictNullable(),
  distributionInfo: p.json<Json>().strictNullable(),
  cloudInstanceMetadata: p.json<Json>().defaultRaw(`'{}'`),
  cloudInit: p.json<Json>().defaultRaw(`'{}'`),
  distroProInfo: p.json<Json>().strictNullable(),
  hotpatchInfo: p.json<Json>().strictNullable(),
  distroProRebootRequiredInfo: p.json<Json>().strictNullable(),
};

/** Texts that only the registration sets, `''` where it has none. */
const REGISTERED = {
  vmInfo: p.text().strictNullable(),
  containerInfo: p.text().strictNullable(),
};

export type RegisteredInfo = Required<Reported<typeof REGISTERED>>;
export const REGISTERED_COLUMNS = columnsOf(REGISTERED);

/** Columns that agents set; only those present change. */
export type ComputerReport = Reported<typeof REPORTED>;
export const REPORTED_COLUMNS = columnsOf(REPORTED);

export const ComputerSchema = defineEntity({
  name: 'Computer',
  tableName: 'computer',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    account: () => p.manyToOne(Account).ref(),
    accessGroup: () => p.manyToOne(AccessGroup).ref().index('computer_access_group'),
    state: p.enum(['pending', 'approved']),
    archived: p.boolean().default(false),
    ...REPORTED,
    title: p.text(),
    comment: p.text().default(''),
    tags: p.array().default([]),
    annotations: p.json<unknown>().defaultRaw(`'{}'`),
    parent: () => p.manyToOne(Computer).deleteRule('set null').ref().strictNullable(),
    isWsl: p.boolean().default(false),
    isDefaultChild: p.boolean().strictNullable(),
    hostagentUid: p.text().strictNullable(),
    cloneId: p.integer().strictNullable(),
    employeeId: p.text().strictNullable(),
    ...REGISTERED,
    createdAt: p.datetime().defaultRaw('now()'),
    registeredAt: p.datetime().strictNullable(),
    proAttached: p
      .boolean()
      .generated(`COALESCE(((distro_pro_info -> 'attached'::text) = 'true'::jsonb), false) stored`)
      .strictNullable(),
    proFree: p
      .boolean()
      .generated(`COALESCE((((distro_pro_info -> 'contract'::text) -> 'products'::text) ? 'free'::text), false) stored`)
      .strictNullable(),
    proContractId: p
      .text()
      .generated(`"left"(((distro_pro_info -> 'contract'::text) ->> 'id'::text), 255) stored`)
      .strictNullable(),
    proExpires: p.datetime().generated(`pro_expiry((distro_pro_info ->> 'expires'::text)) stored`).strictNullable(),
  },
  indexes: [
    { name: 'computer_account', properties: ['account', 'id'] },
    { name: 'computer_annotations', properties: ['annotations'], type: 'gin' },
    { name: 'computer_archived', properties: ['account', 'id'], where: 'archived' },
    { name: 'computer_clone', properties: ['cloneId'], where: 'clone_id IS NOT NULL' },
    {
      name: 'computer_code_name',
      expression: `CREATE INDEX computer_code_name ON public.computer USING btree (hashtextextended(lower((distribution_info ->> 'code_name'::text)), (0)::bigint))`,
    },
    {
      name: 'computer_distribution',
      expression:
        'CREATE INDEX computer_distribution ON public.computer USING btree (hashtextextended(lower(distribution), (0)::bigint))',
    },
    { name: 'computer_hostagent', properties: ['account', 'hostagentUid'], where: 'hostagent_uid IS NOT NULL' },
    {
      name: 'computer_hostname',
      expression: 'CREATE INDEX computer_hostname ON public.computer USING hash (lower(hostname))',
    },
    {
      name: 'computer_listed',
      properties: ['account', 'id'],
      include: ['accessGroup', 'isWsl'],
      where: `(state = 'approved'::text) AND (NOT archived)`,
    },
    {
      name: 'computer_listed_roots',
      properties: ['account', 'id'],
      include: ['accessGroup', 'isWsl'],
      where: `(state = 'approved'::text) AND (NOT archived) AND (parent_id IS NULL)`,
    },
    { name: 'computer_machine', properties: ['account', 'machineId'], where: 'machine_id IS NOT NULL' },
    { name: 'computer_parent', properties: ['parent'], where: 'parent_id IS NOT NULL' },
    { name: 'computer_pending', properties: ['account', 'id'], where: `state = 'pending'::text` },
    { name: 'computer_pro', properties: ['account', 'proContractId'], where: 'pro_attached' },
    { name: 'computer_pro_expires', properties: ['account', 'proExpires'], where: 'pro_attached' },
    { name: 'computer_reboot', properties: ['account', 'id'], where: 'reboot_required' },
    { name: 'computer_tags', properties: ['tags'], type: 'gin' },
    { name: 'computer_title', expression: 'CREATE INDEX computer_title ON public.computer USING hash (lower(title))' },
    {
      name: 'computer_words',
      expression:
        'CREATE INDEX computer_words ON public.computer USING gin (lower(hostname) gin_trgm_ops, lower(title) gin_trgm_ops)',
    },
  ],
});

export class Computer extends ComputerSchema.class {}
ComputerSchema.setClass(Computer);

export const ComputerContactSchema = defineEntity({
  name: 'ComputerContact',
  tableName: 'computer_contact',
  properties: {
    computer: () => p.oneToOne(Computer).owner().deleteRule('cascade').updateRule('no action').ref().primary(),
    lastPingTime: p.datetime().strictNullable(),
    lastExchangeTime: p.datetime().strictNullable(),
    knownSince: p.datetime().defaultRaw('now()'),
  },
});

export const ComputerStatusSchema = defineEntity({
  name: 'ComputerStatus',
  tableName: 'computer_status',
  properties: {
    computer: () => p.oneToOne(Computer).owner().deleteRule('cascade').updateRule('no action').ref().primary(),
    regularUpgrades: p.integer().default(0),
    securityUpgrades: p.integer().default(0),
    regularUpgradesSince: p.datetime().strictNullable(),
    securityUpgradesSince: p.datetime().strictNullable(),
    packageReporterSince: p.datetime().strictNullable(),
    rebootSince: p.datetime().strictNullable(),
    esmDisabledSince: p.datetime().strictNullable(),
    duplicateSince: p.datetime().strictNullable(),
    doubtedAt: p.datetime().strictNullable(),
    doubt: p.text().strictNullable(),
  },
});

export const RemovedComputerSchema = defineEntity({
  name: 'RemovedComputer',
  tableName: 'removed_computer',
  properties: {
    id: p.integer().autoincrement(false).primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').ref(),
    accessGroup: () => p.manyToOne(AccessGroup).ref().index('removed_computer_group'),
    title: p.text(),
    removedAt: p.datetime(),
  },
});
