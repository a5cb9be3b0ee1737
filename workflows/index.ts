export {
  runGroup as activity,
  runGroup as ComputerArchival,
  runGroup as ComputerRestart,
  runGroup as ComputerSanitization,
  runGroup as ComputerShutdown,
  runGroup as KernelChange,
  runGroup as PackageChange,
  runGroup as ProcessSignal,
  runGroup as RecoveryKeyGeneration,
  runGroup as ScriptRun,
  runGroup as SnapAction,
  runGroup as UsgRun,
} from './group.workflow.ts';
export { activityRetention } from './activity-retention.workflow.ts';
export { auditRetention } from './audit-retention.workflow.ts';
export { runBatch as lane, runBatch as ComputerOperation, runBatch as ComputerOperations } from './batch.workflow.ts';
export { hashIdDatabases } from './hash-id-databases.workflow.ts';
export { profileTrigger } from './profile-trigger.workflow.ts';
export { reconcile } from './reconcile.workflow.ts';
export { runReport as reportActivity, runReport as UsgReport } from './report.workflow.ts';
export { runWebhook as WebhookDelivery } from './webhook.workflow.ts';
