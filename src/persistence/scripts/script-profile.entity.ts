import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '../identity/account.entity.ts';
import { Script } from './script.entity.ts';

export const ScriptProfileSchema = defineEntity({
  name: 'ScriptProfile',
  tableName: 'script_profile',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').ref(),
    script: () => p.manyToOne(Script).deleteRule('cascade').ref().index('script_profile_script'),
    creatorId: p.integer(),
    title: p.text(),
    allComputers: p.boolean(),
    tags: p.array(),
    timeLimit: p.integer(),
    username: p.text(),
    archived: p.boolean().default(false),
    createdAt: p.datetime(),
    lastEditedAt: p.datetime(),
    triggerType: p.enum(['event', 'one_time', 'recurring']),
    eventType: p.text().strictNullable(),
    runAt: p.datetime().strictNullable(),
    startAfter: p.datetime().strictNullable(),
    cron: p.text().strictNullable(),
    triggerNumber: p.integer().default(1),
    dueAt: p.datetime().strictNullable(),
    timezone: p.text().default('UTC'),
    plannedUntil: p.datetime().strictNullable(),
  },
  indexes: [
    { name: 'script_profile_due', properties: ['dueAt'], where: '(due_at IS NOT NULL) AND (NOT archived)' },
    {
      name: 'script_profile_enrolment',
      properties: ['account'],
      where: `(trigger_type = 'event'::text) AND (NOT archived)`,
    },
    {
      name: 'script_profile_page',
      properties: ['account', 'createdAt', 'id'],
      columns: [{ name: 'account' }, { name: 'createdAt', sort: 'DESC' }, { name: 'id' }],
    },
  ],
  uniques: [{ name: 'script_profile_title', properties: ['account', 'title'], where: 'NOT archived' }],
  checks: [
    {
      name: 'script_profile_check',
      expression: `
CASE trigger_type
    WHEN 'event'::text THEN ((event_type IS NOT NULL) AND (run_at IS NULL) AND (start_after IS NULL) AND (cron IS NULL))
    WHEN 'one_time'::text THEN ((event_type IS NULL) AND (run_at IS NOT NULL) AND (start_after IS NULL) AND (cron IS NULL))
    ELSE ((event_type IS NULL) AND (run_at IS NULL) AND (start_after IS NOT NULL) AND (cron IS NOT NULL))
END`,
    },
  ],
});

export class ScriptProfile extends ScriptProfileSchema.class {}
ScriptProfileSchema.setClass(ScriptProfile);

export const ScriptProfileRunSchema = defineEntity({
  name: 'ScriptProfileRun',
  tableName: 'script_profile_run',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    accountId: p.integer(),
    profile: () => p.manyToOne(ScriptProfile).deleteRule('cascade').ref(),
    scheduledTime: p.datetime().fieldName('nominal_time').strictNullable(),
    activityId: p.integer().strictNullable(),
    startedAt: p.datetime(),
    computerCount: p.integer().default(0),
    triggerNumber: p.integer().default(1),
  },
  indexes: [
    { name: 'script_profile_run_activity', properties: ['activityId'], where: 'activity_id IS NOT NULL' },
    {
      name: 'script_profile_run_latest',
      properties: ['profile', 'startedAt', 'id'],
      columns: [{ name: 'profile' }, { name: 'startedAt', sort: 'DESC' }, { name: 'id' }],
    },
  ],
  uniques: [{ name: 'script_profile_run_nominal', properties: ['profile', 'triggerNumber', 'scheduledTime'] }],
});
