export {
  activity,
  activity as ComputerArchival,
  activity as ComputerRestart,
  activity as ComputerSanitization,
  activity as ComputerShutdown,
  activity as KernelChange,
  activity as PackageChange,
  activity as ProcessSignal,
  activity as RecoveryKeyGeneration,
  activity as ScriptRun,
  activity as SnapAction,
  activity as UsgRun,
} from './activity.workflow.ts';
export { activityRetention } from './activity-retention.workflow.ts';
export { auditRetention } from './audit-retention.workflow.ts';
export { lane, lane as ComputerOperation, lane as ComputerOperations } from './lane.workflow.ts';
export { profileTrigger } from './profile-trigger.workflow.ts';
export { reconcile } from './reconcile.workflow.ts';
export { reportActivity, reportActivity as UsgReport } from './report-activity.workflow.ts';
