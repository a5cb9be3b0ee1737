/** Workflow type of the daily run that deletes audits and reports past their retention time. */
export const AUDIT_RETENTION_WORKFLOW = 'auditRetention';

/** Schedule that starts it. */
export const AUDIT_RETENTION_SCHEDULE_ID = 'system/audit-retention';
export const AUDIT_RETENTION_WORKFLOW_ID = 'system-audit-retention';

/** Steps of one run, each its own transaction; then it continues as new. */
export const AUDIT_RETENTION_STEPS = 200;

export interface AuditRetentionInput {
  /** Number of rows that previous runs deleted. */
  deletedCount: number;
}

/** Input of 0.1.0. */
export interface ReleasedAuditRetentionInput {
  gone: number;
}
