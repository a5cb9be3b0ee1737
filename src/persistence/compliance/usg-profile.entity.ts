import { defineEntity, p } from '@mikro-orm/core';
import { AccessGroup } from '../identity/access-group.entity.ts';
import { Account } from '../identity/account.entity.ts';

export const UsgProfileSchema = defineEntity({
  name: 'UsgProfile',
  tableName: 'usg_profile',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').ref(),
    accessGroup: () => p.manyToOne(AccessGroup).ref().index('usg_profile_access_group'),
    creatorId: p.integer(),
    name: p.text(),
    title: p.text(),
    allComputers: p.boolean(),
    tags: p.array(),
    benchmark: p.text(),
    mode: p.enum(['audit', 'fix-audit', 'fix-restart-audit']),
    schedule: p.text(),
    startDate: p.datetime(),
    plannedDates: p
      .array(
        (time) => new Date(time),
        (time) => time.toISOString(),
      )
      .columnType('timestamptz[]'),
    restartDeliverDelay: p.integer(),
    restartDeliverDelayWindow: p.integer(),
    tailoringFileKey: p.text().strictNullable(),
    archived: p.boolean().default(false),
    creationTime: p.datetime(),
    modificationTime: p.datetime(),
    timezone: p.text().default('UTC'),
  },
  indexes: [{ name: 'usg_profile_page', properties: ['account', 'creationTime', 'id'] }],
  uniques: [{ name: 'usg_profile_account_id_name_key', properties: ['account', 'name'] }],
});

export class UsgProfile extends UsgProfileSchema.class {}
UsgProfileSchema.setClass(UsgProfile);

export const UsgRunSchema = defineEntity({
  name: 'UsgRun',
  tableName: 'usg_run',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    accountId: p.integer(),
    profile: () => p.manyToOne(UsgProfile).deleteRule('cascade').ref(),
    scheduledTime: p.datetime().fieldName('nominal_time').strictNullable(),
    activityId: p.integer().strictNullable(),
    startedAt: p.datetime().index('usg_run_started'),
    computerCount: p.integer().default(0),
    passingCount: p.integer().default(0),
    failingCount: p.integer().default(0),
    notStartedCount: p.integer().default(0),
    inProgressCount: p.integer().default(0),
    changedAt: p.datetime().strictNullable(),
  },
  indexes: [
    { name: 'usg_run_activity', properties: ['activityId'], where: 'activity_id IS NOT NULL' },
    {
      name: 'usg_run_latest',
      properties: ['profile', 'startedAt', 'id'],
      columns: [{ name: 'profile' }, { name: 'startedAt', sort: 'DESC' }, { name: 'id' }],
      where: 'activity_id IS NOT NULL',
    },
  ],
  uniques: [{ name: 'usg_run_profile_id_nominal_time_key', properties: ['profile', 'scheduledTime'] }],
});

export class UsgRun extends UsgRunSchema.class {}
UsgRunSchema.setClass(UsgRun);
