/** Workflow type of the daily run that removes audits and reports that accounts do not keep any more. */
export const AUDIT_RETENTION_WORKFLOW = 'auditRetention';

/** Schedule that starts it. */
export const AUDIT_RETENTION_SCHEDULE_ID = 'system/audit-retention';
export const AUDIT_RETENTION_WORKFLOW_ID = 'system-audit-retention';

/** Steps of one run, each a transaction of its own; after them it continues as new. */
export const AUDIT_RETENTION_STEPS = 200;

/** What was removed by the runs so far. */
export interface AuditRetentionInput {
  gone: number;
}
