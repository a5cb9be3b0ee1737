import { patched, proxyLocalActivities } from '@temporalio/workflow';
import type {
  AuditRetentionActivities,
  HashIdDatabaseActivities,
  ProfileActivities,
  ReconcileActivities,
  ReleasedActivities,
  RetentionActivities,
} from '../contracts/activities.ts';
import { proxyDatabaseActivities } from './database-activities.ts';

/** One attempt: the next run comes within a minute and repeats what this one did not finish. */
const ONE_ATTEMPT = { startToCloseTimeout: '50s', retry: { maximumAttempts: 1 } } as const;

/** Patch: activities of scheduled workflows by their present names. */
const NAMED_ACTIVITIES = 'named-activities';

type DatabaseActivities = AuditRetentionActivities & HashIdDatabaseActivities & ProfileActivities & RetentionActivities;

const current = proxyDatabaseActivities<DatabaseActivities>();
const released = proxyDatabaseActivities<ReleasedActivities>();
const { reconcileWorkflows, reconcile } = proxyLocalActivities<
  ReconcileActivities & Pick<ReleasedActivities, 'reconcile'>
>(ONE_ATTEMPT);

const isReleased = (): boolean => !patched(NAMED_ACTIVITIES);

/** The Temporal activities of scheduled workflows for workflow code. */
export const scheduledActivities: DatabaseActivities & ReconcileActivities = {
  async startRun(input) {
    if (!isReleased()) return current.startRun(input);
    return { outcome: await released.startDueRun(input.kind, input.profileId, input.scheduledTime) };
  },
  async extendSchedule(input) {
    if (!isReleased()) return current.extendSchedule(input);
    await released.refillSchedule(input.kind, input.profileId);
    return { planned: [] };
  },
  async purgeExpiredActivities(input) {
    if (!isReleased()) return current.purgeExpiredActivities(input);
    const { gone, next } = await released.forgetActivities(input.after);
    return { deletedCount: gone, deleted: [], next };
  },
  async purgeExpiredAudits(input) {
    if (!isReleased()) return current.purgeExpiredAudits(input);
    const { gone, more } = await released.forgetAudits();
    return { deletedCount: gone, runs: [], more };
  },
  listReleases: (input) => current.listReleases(input),
  buildHashIdDatabase: (input) => current.buildHashIdDatabase(input),
  reconcileWorkflows: (input) => (isReleased() ? reconcile(input.cursor) : reconcileWorkflows(input)),
};
