export { activity } from './activity.workflow.ts';
export { activityRetention } from './activity-retention.workflow.ts';
export { auditRetention } from './audit-retention.workflow.ts';
export { lane } from './lane.workflow.ts';
export { profileTrigger } from './profile-trigger.workflow.ts';
export { reconcile } from './reconcile.workflow.ts';
export { reportActivity } from './report-activity.workflow.ts';
