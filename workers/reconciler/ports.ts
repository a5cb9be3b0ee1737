import type { Client } from '@temporalio/client';
import type { Workflows } from '../../src/services/activities/workflows.ts';
import type { ProfileSchedules } from '../../src/services/schedules/missed-runs.ts';
import { isDeclaredAs, isPausedByOperator } from '../../temporal/schedules/profile-schedules.ts';
import { isServerUnavailable } from '../dispatcher/rejected.ts';
import { createStarter } from '../dispatcher/starter.ts';
import { ignoreNotFound, sendWakeUp } from '../../temporal/client/workflow-calls.ts';
import { highestActivity, RUNNING, runningAmong, workflowIdsOf } from './visibility.ts';
import { ORPHANED, readState } from './workflow-state.ts';

export interface WorkflowsOptions {
  client: Client;
  publicUrl: string;
  /** As the client, for starts on the worker of this process. */
  eagerClient?: () => Client | null;
  /** The build of this process; absent for an unversioned worker. */
  buildId?: string;
}

/** Reaches workflows through a client. */
export function createWorkflows({ client, publicUrl, eagerClient, buildId }: WorkflowsOptions): Workflows {
  const handleOf = (workflowId: string) => client.workflow.getHandle(workflowId);
  return {
    ...createStarter(client, publicUrl, eagerClient),
    state: (workflowId) => readState(client, workflowId, buildId),
    runningAmong: (workflowIds) => runningAmong(client, workflowIds),
    cancel: (workflowId) => ignoreNotFound(handleOf(workflowId).cancel()),
    wakeUp: (workflowId) => sendWakeUp(client, workflowId),
    terminateOrphan: (workflowId) => ignoreNotFound(handleOf(workflowId).terminate(ORPHANED)),
    running: () => workflowIdsOf(client, RUNNING),
    highestActivity: () => highestActivity(client),
  };
}

/** Reaches schedules through a client. */
export function createProfileSchedules(client: Client): ProfileSchedules {
  return {
    isPausedByOperator: (scheduleId) => isPausedByOperator(client, scheduleId),
    async *list() {
      for await (const { scheduleId, state } of client.schedule.list())
        yield { scheduleId, isDeclaredAs: (beginning) => isDeclaredAs(state, beginning) };
    },
    isUnavailable: isServerUnavailable,
  };
}
