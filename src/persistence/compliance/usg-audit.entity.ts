import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '../identity/account.entity.ts';
import { UsgRun } from './usg-profile.entity.ts';

export const UsgAuditSchema = defineEntity({
  name: 'UsgAudit',
  tableName: 'usg_audit',
  properties: {
    computerId: p.integer().primary(),
    profileId: p.integer().primary(),
    run: () => p.manyToOne(UsgRun).deleteRule('cascade').ref().primary(),
    state: p.enum(['not-started', 'in-progress', 'pass', 'fail']),
    awaitingSince: p.datetime().strictNullable(),
    reportedAt: p.datetime().strictNullable(),
    reason: p.text().strictNullable(),
    passedCount: p.integer().default(0),
    failedCount: p.integer().default(0),
    ruleSet: () => p.manyToOne(UsgRuleSet).deleteRule('no action').ref().strictNullable(),
    results: p.text().strictNullable(),
  },
  indexes: [
    { name: 'usg_audit_awaiting', properties: ['awaitingSince'], where: 'awaiting_since IS NOT NULL' },
    { name: 'usg_audit_rule_set', properties: ['ruleSet'], where: 'rule_set_id IS NOT NULL' },
    { name: 'usg_audit_run', properties: ['run', 'computerId'] },
  ],
});

export const UsgAuditReportSchema = defineEntity({
  name: 'UsgAuditReport',
  tableName: 'usg_audit_report',
  properties: {
    activityId: p.integer().autoincrement(false).primary(),
    computerId: p.integer().index('usg_audit_report_computer'),
    runId: p.text(),
    report: p.blob().$type<Buffer>(),
    receivedAt: p.datetime(),
  },
});

export const UsgRuleSchema = defineEntity({
  name: 'UsgRule',
  tableName: 'usg_rule',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').ref(),
    digest: p.blob(),
    rule: p.text(),
    severity: p.text(),
    title: p.text(),
    identifiers: p.array(),
    description: p.text(),
    rationale: p.text(),
  },
  uniques: [{ name: 'usg_rule_account_id_digest_key', properties: ['account', 'digest'] }],
});

export const UsgRuleSetSchema = defineEntity({
  name: 'UsgRuleSet',
  tableName: 'usg_rule_set',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').ref(),
    digest: p.blob(),
    ruleIds: p.array(Number, String).columnType('int4[]'),
  },
  uniques: [{ name: 'usg_rule_set_account_id_digest_key', properties: ['account', 'digest'] }],
});

export class UsgRuleSet extends UsgRuleSetSchema.class {}
UsgRuleSetSchema.setClass(UsgRuleSet);
