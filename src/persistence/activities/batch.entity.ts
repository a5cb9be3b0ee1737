import { defineEntity, p } from '@mikro-orm/core';

export const BatchSchema = defineEntity({
  name: 'Batch',
  tableName: 'lane',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    accountId: p.integer(),
    parentId: p.integer().strictNullable(),
    workflowId: p.text().fieldName('wf_id').unique('lane_wf_id_key'),
    single: p.boolean(),
    ordinal: p.integer(),
    size: p.integer(),
    openCount: p.integer(),
    succeededCount: p.integer().default(0),
    failedCount: p.integer().default(0),
    canceledCount: p.integer().default(0),
    hasDependents: p.boolean().default(false),
    summary: p.text(),
    createdAt: p.datetime().defaultRaw('now()'),
    openedAt: p.datetime().strictNullable(),
    closedAt: p.datetime().strictNullable(),
    nextDueAt: p.datetime().strictNullable(),
    usgRunId: p.integer().strictNullable(),
    answerSeconds: p.integer().strictNullable(),
    afterActivityId: p.integer().strictNullable(),
    awaited: p.boolean().default(false),
  },
  indexes: [
    {
      name: 'lane_after',
      properties: ['afterActivityId'],
      where: '(after_activity_id IS NOT NULL) AND (closed_at IS NULL)',
    },
    { name: 'lane_open', properties: ['id'], where: 'closed_at IS NULL' },
    { name: 'lane_parent', properties: ['parentId'], where: 'parent_id IS NOT NULL' },
    { name: 'lane_unopened', properties: ['accountId', 'parentId'], where: 'opened_at IS NULL' },
  ],
});
