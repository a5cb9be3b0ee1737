import { defineEntity, p } from '@mikro-orm/core';
import { Computer } from '../computers/computer.entity.ts';
import { Account } from '../identity/account.entity.ts';

export const PackageSchema = defineEntity({
  name: 'Package',
  tableName: 'package',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    hash: p.blob().unique('package_hash_key'),
    type: p.integer(),
    name: p.text(),
    version: p.text(),
    section: p.text().strictNullable(),
    summary: p.text().strictNullable(),
    description: p.text().strictNullable(),
    size: p.bigint('number').strictNullable(),
    installedSize: p.bigint('number').strictNullable(),
    relations: p.json<unknown>(),
  },
  indexes: [
    { name: 'package_kernel', properties: ['id'], where: `name ~~ 'linux-image-%'::text` },
    { name: 'package_name', properties: ['name', 'id'] },
  ],
});

export const PackageFixSchema = defineEntity({
  name: 'PackageFix',
  tableName: 'package_fix',
  properties: {
    packageName: p.text().primary(),
    packageVersion: p.text().primary(),
    name: p.text(),
    releaseDate: p.date(),
    summary: p.text(),
    cves: p.array().default([]),
  },
});

export const AccountPackagesSchema = defineEntity({
  name: 'AccountPackages',
  tableName: 'account_packages',
  properties: {
    account: () => p.oneToOne(Account).owner().deleteRule('cascade').updateRule('no action').ref().primary(),
    known: p.text().columnType('int4multirange'),
  },
});

export const ComputerPackagesSchema = defineEntity({
  name: 'ComputerPackages',
  tableName: 'computer_packages',
  properties: {
    computer: () => p.oneToOne(Computer).owner().deleteRule('cascade').updateRule('no action').ref().primary(),
    installed: p.text().columnType('int4multirange').defaultRaw(`'{}'`),
    available: p.text().columnType('int4multirange').defaultRaw(`'{}'`),
    availableUpgrades: p.text().columnType('int4multirange').defaultRaw(`'{}'`),
    locked: p.text().columnType('int4multirange').defaultRaw(`'{}'`),
    autoremovable: p.text().columnType('int4multirange').defaultRaw(`'{}'`),
    security: p.text().columnType('int4multirange').defaultRaw(`'{}'`),
    restart: p.boolean().default(false),
    updatedAt: p.datetime(),
  },
});

export const PackageChangeResultSchema = defineEntity({
  name: 'PackageChangeResult',
  tableName: 'package_change_result',
  properties: {
    activityId: p.integer().autoincrement(false).primary(),
    computerId: p.integer().index('package_change_result_computer'),
    mustInstall: p.array(Number, String).columnType('int4[]'),
    mustRemove: p.array(Number, String).columnType('int4[]'),
  },
});
