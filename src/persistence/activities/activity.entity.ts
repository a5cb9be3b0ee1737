import { defineEntity, p } from '@mikro-orm/core';
import type { ActivityStatus } from '../../domain/activities/status.ts';
import type { PackageChange } from '../../domain/software/package-changes.ts';

export const ActivitySchema = defineEntity({
  name: 'Activity',
  tableName: 'activity',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    accountId: p.integer(),
    parentId: p.integer().strictNullable(),
    batchId: p.integer().fieldName('lane_id').strictNullable(),
    computerId: p.integer().strictNullable(),
    payloadId: p.bigint('number').strictNullable(),
    type: p.text(),
    summary: p.text(),
    status: p.text().$type<ActivityStatus>(),
    creatorId: p.integer().strictNullable(),
    creationTime: p.datetime().defaultRaw('now()'),
    modificationTime: p.datetime().strictNullable(),
    approvalTime: p.datetime().strictNullable(),
    completionTime: p.datetime().strictNullable(),
    deliveryTime: p.datetime().strictNullable(),
    deliverAfterTime: p.datetime().strictNullable(),
    deliverBeforeTime: p.datetime().strictNullable(),
    scheduleAfterTime: p.datetime().strictNullable(),
    scheduleBeforeTime: p.datetime().strictNullable(),
    deliverDelayWindow: p.integer().default(0),
    deliverAt: p.datetime().strictNullable(),
    blockedBy: p.integer().strictNullable(),
    delaySeconds: p.integer().default(0),
    resultCode: p.integer().strictNullable(),
    resultText: p.text().strictNullable(),
    reappliedFrom: p.integer().strictNullable(),
    reverts: p.integer().strictNullable(),
    packageIds: p.array(Number, String).columnType('int4[]').default([]),
    changes: p.json<PackageChange[]>().defaultRaw(`'[]'`),
    parameters: p.json<unknown>().strictNullable(),
    childTypes: p.array().default([]),
    childrenCount: p.integer().default(0),
    computerCount: p.integer().default(0),
    openCount: p.integer().default(0),
    deliveredCount: p.integer().default(0),
    succeededCount: p.integer().default(0),
    failedCount: p.integer().default(0),
    canceledCount: p.integer().default(0),
    neededApproval: p.boolean().default(false),
    reappliedBy: p.integer().strictNullable(),
    revertedBy: p.integer().strictNullable(),
    progress: p.smallint().strictNullable(),
    afterActivityId: p.integer().strictNullable(),
  },
  indexes: [
    { name: 'activity_account', properties: ['accountId', 'id'] },
    { name: 'activity_account_parents', properties: ['accountId', 'id'], where: 'parent_id IS NULL' },
    { name: 'activity_age', properties: ['creationTime', 'id'], where: 'parent_id IS NULL' },
    { name: 'activity_blocked_by', properties: ['blockedBy'], where: 'blocked_by IS NOT NULL' },
    {
      name: 'activity_computer',
      properties: ['computerId', 'id'],
      include: ['parentId'],
      where: 'computer_id IS NOT NULL',
    },
    { name: 'activity_created', properties: ['creationTime'], type: 'brin' },
    { name: 'activity_creator', properties: ['accountId', 'creatorId'] },
    { name: 'activity_lane', properties: ['batchId'], where: 'lane_id IS NOT NULL' },
    { name: 'activity_needed_approval', properties: ['computerId'], where: 'needed_approval' },
    {
      name: 'activity_on_no_computer',
      properties: ['accountId', 'id'],
      where: '(parent_id IS NULL) AND (computer_id IS NULL) AND (children_count = 0)',
    },
    { name: 'activity_parent', properties: ['parentId', 'id'], where: 'parent_id IS NOT NULL' },
    { name: 'activity_reapplied_from', properties: ['reappliedFrom'], where: 'reapplied_from IS NOT NULL' },
    {
      name: 'activity_recovery_key',
      properties: ['computerId', 'id'],
      where: `type = 'GenerateFDERecoveryKeyRequest'::text`,
    },
    { name: 'activity_reverts', properties: ['reverts'], where: 'reverts IS NOT NULL' },
    { name: 'activity_script', properties: ['payloadId'], where: `type = 'ExecuteScriptRequest'::text` },
    { name: 'activity_type', properties: ['accountId', 'type'] },
  ],
});

export class Activity extends ActivitySchema.class {}
ActivitySchema.setClass(Activity);

export const ActivityBlockSchema = defineEntity({
  name: 'ActivityBlock',
  tableName: 'activity_block',
  properties: {
    accountId: p.integer().primary(),
    block: p.integer().primary(),
    shard: p.smallint().primary(),
    activities: p.integer(),
    parents: p.integer(),
  },
});

export class ActivityBlock extends ActivityBlockSchema.class {}
ActivityBlockSchema.setClass(ActivityBlock);

export const OperationPayloadSchema = defineEntity({
  name: 'OperationPayload',
  tableName: 'operation_payload',
  properties: {
    id: p.bigint('number').generated('by default as identity').primary(),
    accountId: p.integer(),
    messageType: p.text(),
    fields: p.json<unknown>(),
    creationTime: p.datetime().defaultRaw('now()'),
    answerSeconds: p.integer().strictNullable(),
    scriptId: p.integer().strictNullable(),
    traceparent: p.text().strictNullable(),
  },
  indexes: [{ name: 'operation_payload_script', properties: ['scriptId'], where: 'script_id IS NOT NULL' }],
});

export class OperationPayload extends OperationPayloadSchema.class {}
OperationPayloadSchema.setClass(OperationPayload);
