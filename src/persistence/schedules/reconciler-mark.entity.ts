import { defineEntity, p } from '@mikro-orm/core';

export const ReconcilerMarkSchema = defineEntity({
  name: 'ReconcilerMark',
  tableName: 'reconciler_mark',
  properties: {
    singleton: p.boolean().default(true).primary(),
    mark: p.bigint('number'),
  },
  checks: [{ name: 'reconciler_mark_singleton_check', expression: 'singleton' }],
});
