import { type Client, WorkflowFailedError } from '@temporalio/client';
import type {
  AuditRetentionActivities,
  HashIdDatabaseActivities,
  ReconcileActivities,
  RetentionActivities,
} from '../../workflows/contracts/activities.ts';
import { type BatchInput, WAKE_UP_SIGNAL } from '../../workflows/contracts/activity.contract.ts';
import {
  PROFILE_TRIGGER_WORKFLOW,
  type ProfileTriggerInput,
  triggerWorkflowId,
} from '../../workflows/contracts/profile-trigger.contract.ts';
import { batchWorkflow, groupWorkflow, REPORT_WORKFLOW } from '../../workflows/contracts/workflow-types.ts';
import type { FakeBatches, FakeProfiles, FakeReports } from '../support/activities/fakes.ts';
import { until } from '../support/temporal/workflow-environment.ts';
import type { WebhookActivities } from '../../workflows/contracts/activities.ts';
import { WEBHOOK_WORKFLOW, webhookWorkflowId } from '../../workflows/contracts/webhook.contract.ts';

/** One path through a workflow whose history is kept. */
export interface Scenario {
  name: string;
  /** Batches by size. */
  sizes: readonly number[];
  /** No worker takes what waits on the queue of reports. */
  withoutReportWorker?: true;
  /** Runs the path on a real server; returns the workflows whose histories are kept, every run of them. */
  run(stage: Stage): Promise<string[]>;
}

/** Audits in the database as far as their removal sees them. */
export interface FakeAudits {
  /** Steps until none is due. */
  steps: number;
}

export interface Stage {
  batches: FakeBatches;
  profiles: FakeProfiles;
  reports: FakeReports;
  audits: FakeAudits;
  client: Client;
  taskQueue: string;
  ids: readonly number[];
  group: number;
}

/** Workflow id of an activity. */
export const wf = (id: number) => `activity/${id}`;

export async function startBatch(
  { client, taskQueue, batches, ids }: Stage,
  input: Partial<BatchInput> = {},
): Promise<number> {
  const batch = ids[0]!;
  const { single = batches.progress(batch).open === 1 } = input;
  const args = [{ batch, single, ...input }];
  await client.workflow.start(batchWorkflow(single), { taskQueue, workflowId: wf(batch), args });
  return batch;
}

async function startGroup({ client, taskQueue, group }: Stage, type: string): Promise<string> {
  await client.workflow.start(type, { taskQueue, workflowId: wf(group), args: [{ id: group }] });
  return wf(group);
}

export async function reportOutcome(
  stage: Stage,
  batch: number,
  row: number,
  outcome: 'succeeded' | 'failed' | 'canceled',
) {
  stage.batches.report(batch, row, outcome);
  await stage.client.workflow.getHandle(wf(batch)).signal(WAKE_UP_SIGNAL);
}

async function ended({ client }: Stage, workflowId: string): Promise<void> {
  await client.workflow
    .getHandle(workflowId)
    .result()
    .catch((error: unknown) => {
      if (!(error instanceof WorkflowFailedError)) throw error;
    });
}

export const advances = ({ batches }: Stage, count: number) =>
  until(() => batches.calls.filter((call) => call === 'processPendingEvents').length >= count);

export function batchPath(name: string, sizes: readonly number[], path: (stage: Stage) => Promise<number>): Scenario {
  return {
    name,
    sizes,
    async run(stage) {
      const batch = await path(stage);
      await ended(stage, wf(batch));
      return [wf(batch)];
    },
  };
}

/** An action on one computer, whose chain is the only batch. */
export function computerPath(
  name: string,
  operations: number,
  path: (stage: Stage, batch: number) => Promise<void>,
  type = groupWorkflow('InstallSnaps'),
): Scenario {
  return {
    name,
    sizes: [operations],
    async run(stage) {
      const batch = stage.ids[0]!;
      const args = [{ id: stage.group, batch }];
      await stage.client.workflow.start(type, { taskQueue: stage.taskQueue, workflowId: wf(batch), args });
      await until(() => stage.batches.calls.length > 0);
      await path(stage, batch);
      await ended(stage, wf(batch));
      return [wf(batch)];
    },
  };
}

export function groupPath(
  name: string,
  sizes: readonly number[],
  path: (stage: Stage) => Promise<void>,
  type = groupWorkflow('InstallSnaps'),
): Scenario {
  return {
    name,
    sizes,
    async run(stage) {
      const workflowId = await startGroup(stage, type);
      await path(stage);
      await ended(stage, workflowId);
      return [workflowId];
    },
  };
}

export async function succeed(stage: Stage): Promise<void> {
  await advances(stage, stage.ids.length);
  for (const batch of stage.ids) await reportOutcome(stage, batch, 0, 'succeeded');
}

export function outcome(name: string, result: 'succeeded' | 'failed' | 'canceled'): Scenario {
  return batchPath(name, [1], async (stage) => {
    const batch = await startBatch(stage);
    await advances(stage, 1);
    await reportOutcome(stage, batch, 0, result);
    return batch;
  });
}

/** What the activities of scheduled workflows return in recorded histories. */
export function scheduledSteps(
  audits: FakeAudits,
): ReconcileActivities & RetentionActivities & AuditRetentionActivities & HashIdDatabaseActivities {
  return {
    listReleases: async () => ({ codeNames: ['noble', 'jammy'] }),
    buildHashIdDatabase: async ({ codeName }) => ({ packages: codeName === 'noble' ? 70_000 : 60_000 }),
    purgeExpiredAudits: async () => ({ deletedCount: 500, runs: [1, 2], more: --audits.steps > 0 }),
    purgeExpiredActivities: async ({ after }) => ({
      deletedCount: 500,
      deleted: [1, 2],
      next: after && after.id >= 3 ? null : { createdAt: '2026-11-21T12:00:00.000000Z', id: (after?.id ?? 0) + 1 },
    }),
    reconcileWorkflows: async ({ cursor }) => ({
      cursor: { closedSince: (cursor?.closedSince ?? 0) + 1, batchAfter: 7 },
      restarted: 1,
      closed: 0,
      repaired: [{ workflowId: 'activity/1', outcome: 'restarted' }],
    }),
  };
}

export function triggerPath(name: string, failures: number): Scenario {
  return {
    name,
    sizes: [],
    async run({ client, profiles, taskQueue, group }) {
      profiles.failures = failures;
      const workflowId = `${triggerWorkflowId('usg', group)}-2026-11-23T02:00:00Z`;
      const input: ProfileTriggerInput = { kind: 'usg', profileId: group };
      await client.workflow.execute(PROFILE_TRIGGER_WORKFLOW, { taskQueue, workflowId, args: [input] });
      return [workflowId];
    },
  };
}

export function reportPath(name: string, outcome: FakeReports['outcome']): Scenario {
  return {
    name,
    sizes: [],
    async run(stage) {
      const { client, taskQueue, group, reports } = stage;
      reports.outcome = outcome;
      const workflowId = wf(group);
      const handle = await client.workflow.start(REPORT_WORKFLOW, { taskQueue, workflowId, args: [{ id: group }] });
      if (outcome === 'never ends') {
        await until(() => reports.started > 0);
        await handle.cancel();
      }
      await ended(stage, workflowId);
      return [workflowId];
    },
  };
}

/** A report that is canceled before a worker starts it. */
export function waitingReportPath(name: string): Scenario {
  return {
    name,
    sizes: [],
    withoutReportWorker: true,
    async run(stage) {
      const { client, taskQueue, group } = stage;
      const workflowId = wf(group);
      const handle = await client.workflow.start(REPORT_WORKFLOW, { taskQueue, workflowId, args: [{ id: group }] });
      await until(async () => (await handle.describe()).raw.pendingActivities?.length === 1);
      await handle.cancel();
      await ended(stage, workflowId);
      return [workflowId];
    },
  };
}

/** A workflow that a schedule of the system starts. */
export function scheduledPath(name: string, type: string, args: unknown[] = [], auditSteps = 3): Scenario {
  return {
    name,
    sizes: [],
    async run({ client, taskQueue, group, audits }) {
      audits.steps = auditSteps;
      const workflowId = `${name}/${group}`;
      await client.workflow.execute(type, { taskQueue, workflowId, args });
      return [workflowId];
    },
  };
}

export async function cancelGroup({ client, group }: Stage): Promise<void> {
  await client.workflow.getHandle(wf(group)).cancel();
}

export async function cancelGroupAtWork(stage: Stage): Promise<void> {
  await advances(stage, 2);
  await cancelGroup(stage);
}

export async function cancelSecondStep(stage: Stage): Promise<number> {
  const batch = await startBatch(stage, { single: true });
  await advances(stage, 1);
  stage.batches.report(batch, 1, 'canceled');
  await reportOutcome(stage, batch, 0, 'succeeded');
  return batch;
}

/** Waits until the group's workflow has read its open operations again. */
export const refreshed = ({ batches }: Stage): Promise<void> => until(() => batches.calls.includes('getGroupProgress'));

/** Steps of a webhook: more to do, a wait for the next attempt, the end. */
export function webhookSteps(): WebhookActivities {
  const results = [
    { state: 'active' as const, more: true, waitMs: null },
    { state: 'active' as const, more: false, waitMs: 200 },
  ];
  return { deliverWebhook: async () => results.shift() ?? { state: 'paused', more: false, waitMs: null } };
}

export const webhookPath: Scenario = {
  name: 'webhook-delivery',
  sizes: [],
  async run({ client, taskQueue, group }) {
    const workflowId = webhookWorkflowId(group);
    await client.workflow.execute(WEBHOOK_WORKFLOW, { taskQueue, workflowId, args: [{ webhook: group }] });
    return [workflowId];
  },
};
