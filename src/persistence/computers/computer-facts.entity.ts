import { defineEntity, p } from '@mikro-orm/core';
import type { Json } from '../../domain/agents/facts.ts';
import { columnsOf, type Reported } from '../database/reported.ts';
import { Computer } from './computer.entity.ts';

export const ComputerHardwareSchema = defineEntity({
  name: 'ComputerHardware',
  tableName: 'computer_hardware',
  properties: {
    computer: () => p.oneToOne(Computer).owner().deleteRule('cascade').updateRule('no action').ref().primary(),
    data: p.text(),
    reportedAt: p.datetime(),
    flat: p.json<unknown>().columnType('json').strictNullable(),
    grouped: p.json<unknown>().columnType('json').strictNullable(),
  },
});

const INVENTORY = {
  clientTypes: p.array().strictNullable(),
  processors: p.json<Json>().strictNullable(),
  snapDevice: p.json<Json>().strictNullable(),
  snapServices: p.json<Json>().strictNullable(),
  aptPreferences: p.json<Json>().strictNullable(),
  packageReport: p.json<Json>().strictNullable(),
  packagesRequested: p.smallint().strictNullable(),
};

export type InventoryReport = Reported<typeof INVENTORY>;
export const INVENTORY_COLUMNS = columnsOf(INVENTORY);

export const ComputerInventorySchema = defineEntity({
  name: 'ComputerInventory',
  tableName: 'computer_inventory',
  properties: {
    computer: () => p.oneToOne(Computer).owner().deleteRule('cascade').updateRule('no action').ref().primary(),
    ...INVENTORY,
    clientTags: p.array().default([]),
    clientAnnotations: p.json<unknown>().defaultRaw(`'{}'`),
    unparsed: p.json<unknown>().defaultRaw(`'{}'`),
  },
});

export const ComputerNetworkSchema = defineEntity({
  name: 'ComputerNetwork',
  tableName: 'computer_network',
  properties: {
    computerId: p.integer().primary(),
    interface: p.text().primary(),
    ipAddress: p.text(),
    macAddress: p.text(),
    broadcastAddress: p.text(),
    netmask: p.text(),
    flags: p.bigint('number'),
    active: p.boolean(),
    speed: p.integer().strictNullable(),
    duplex: p.boolean().strictNullable(),
    leftOrder: p.integer().strictNullable(),
  },
  indexes: [
    {
      name: 'computer_network_ip',
      expression: `CREATE INDEX computer_network_ip ON public.computer_network USING gin (translate(lower(ip_address), '.:'::text, ''::text) gin_trgm_ops)`,
    },
    {
      name: 'computer_network_mac',
      expression: `CREATE INDEX computer_network_mac ON public.computer_network USING gin (translate(lower(mac_address), '.:'::text, ''::text) gin_trgm_ops)`,
    },
  ],
});

export const ComputerGroupSchema = defineEntity({
  name: 'ComputerGroup',
  tableName: 'computer_group',
  properties: {
    computerId: p.integer().primary(),
    name: p.text().primary(),
    gid: p.bigint('number').strictNullable(),
    members: p.array().default([]),
  },
});

export const ComputerUserSchema = defineEntity({
  name: 'ComputerUser',
  tableName: 'computer_user',
  properties: {
    computerId: p.integer().primary(),
    username: p.text().primary(),
    uid: p.bigint('number').strictNullable(),
    name: p.text().strictNullable(),
    enabled: p.boolean(),
    location: p.text().strictNullable(),
    homePhone: p.text().strictNullable(),
    workPhone: p.text().strictNullable(),
    primaryGid: p.bigint('number').strictNullable(),
  },
});

export const ComputerProcessSchema = defineEntity({
  name: 'ComputerProcess',
  tableName: 'computer_process',
  properties: {
    computerId: p.integer().primary(),
    pid: p.integer().primary(),
    name: p.text(),
    state: p.text(),
    uid: p.bigint('number').strictNullable(),
    gid: p.bigint('number').strictNullable(),
    startTime: p.bigint('number'),
    vmSize: p.bigint('number').strictNullable(),
    cpuUtilisation: p.float().strictNullable(),
  },
});

export const ComputerNoticeSchema = defineEntity({
  name: 'ComputerNotice',
  tableName: 'computer_notice',
  properties: {
    computer: () => p.manyToOne(Computer).deleteRule('cascade').ref().primary(),
    notice: p.text().primary(),
    notedAt: p.datetime(),
  },
});

export const ComputerRecoveryKeySchema = defineEntity({
  name: 'ComputerRecoveryKey',
  tableName: 'computer_recovery_key',
  properties: {
    computer: () => p.oneToOne(Computer).owner().deleteRule('cascade').updateRule('no action').ref().primary(),
    activityId: p.integer(),
    keyId: p.text().index('computer_recovery_key_key'),
    ciphertext: p.blob().$type<Buffer>().fieldName('sealed'),
    createdAt: p.datetime(),
  },
});

export class ComputerRecoveryKey extends ComputerRecoveryKeySchema.class {}
ComputerRecoveryKeySchema.setClass(ComputerRecoveryKey);
