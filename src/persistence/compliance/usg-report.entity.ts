import { defineEntity, p } from '@mikro-orm/core';
import { UsgProfile } from './usg-profile.entity.ts';

export const UsgReportSchema = defineEntity({
  name: 'UsgReport',
  tableName: 'usg_report',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    accountId: p.integer(),
    profile: () => p.manyToOne(UsgProfile).deleteRule('cascade').ref().index('usg_report_profile'),
    path: p.text(),
    rangeStart: p.datetime(),
    rangeEnd: p.datetime(),
    detailed: p.boolean(),
    activityId: p.integer().strictNullable(),
    fileId: p.bigint('number').strictNullable(),
    fingerprint: p.text().strictNullable(),
    oldestRun: p.datetime().strictNullable(),
  },
  indexes: [{ name: 'usg_report_activity', properties: ['activityId'], where: 'activity_id IS NOT NULL' }],
  uniques: [{ name: 'usg_report_account_id_path_key', properties: ['accountId', 'path'] }],
});

export class UsgReport extends UsgReportSchema.class {}
UsgReportSchema.setClass(UsgReport);
