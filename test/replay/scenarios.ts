import { type Client, WorkflowFailedError } from '@temporalio/client';
import type {
  AuditRetentionActivities,
  ReconcileActivities,
  RetentionActivities,
} from '../../workflows/contracts/activities.ts';
import { ACTIVITY_RETENTION_WORKFLOW } from '../../workflows/contracts/activity-retention.contract.ts';
import { AUDIT_RETENTION_STEPS, AUDIT_RETENTION_WORKFLOW } from '../../workflows/contracts/audit-retention.contract.ts';
import { type BatchInput, WAKE_UP_SIGNAL } from '../../workflows/contracts/batch.contract.ts';
import {
  PROFILE_TRIGGER_WORKFLOW,
  type ProfileTriggerInput,
  triggerWorkflowId,
} from '../../workflows/contracts/profile-trigger.contract.ts';
import { RECONCILE_WORKFLOW } from '../../workflows/contracts/reconcile.contract.ts';
import {
  RELEASED_GROUP_WORKFLOW,
  batchWorkflow,
  GROUP_TYPES,
  groupWorkflow,
  REPORT_WORKFLOW,
} from '../../workflows/contracts/workflow-types.ts';
import type { FakeBatches } from '../support/activities/fake-batches.ts';
import type { FakeProfiles, FakeReports } from '../support/compliance/fakes.ts';
import { until } from '../support/temporal/workflow-environment.ts';

/** One path through a workflow whose history is kept. */
export interface Scenario {
  name: string;
  /** Batches by size. */
  sizes: readonly number[];
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

const wf = (id: number) => `activity/${id}`;

async function startBatch(
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

async function tell(stage: Stage, batch: number, row: number, outcome: 'succeeded' | 'failed' | 'canceled') {
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

const advances = ({ batches }: Stage, count: number) =>
  until(() => batches.calls.filter((call) => call === 'processPendingEvents').length >= count);

function batchPath(name: string, sizes: readonly number[], path: (stage: Stage) => Promise<number>): Scenario {
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

function groupPath(
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

async function succeed(stage: Stage): Promise<void> {
  await advances(stage, stage.ids.length);
  for (const batch of stage.ids) await tell(stage, batch, 0, 'succeeded');
}

function outcome(name: string, result: 'succeeded' | 'failed' | 'canceled'): Scenario {
  return batchPath(name, [1], async (stage) => {
    const batch = await startBatch(stage);
    await advances(stage, 1);
    await tell(stage, batch, 0, result);
    return batch;
  });
}

/** What the steps of scheduled workflows answer in recorded histories. */
export function scheduledSteps(
  audits: FakeAudits,
): ReconcileActivities & RetentionActivities & AuditRetentionActivities {
  return {
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

function triggerPath(name: string, failures: number): Scenario {
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

function reportPath(name: string, outcome: FakeReports['outcome']): Scenario {
  return {
    name,
    sizes: [],
    async run(stage) {
      const { client, taskQueue, group, reports } = stage;
      reports.outcome = outcome;
      const workflowId = wf(group);
      const handle = await client.workflow.start(REPORT_WORKFLOW, { taskQueue, workflowId, args: [{ id: group }] });
      if (outcome === 'never ends') {
        await until(() => reports.begun > 0);
        await handle.cancel();
      }
      await ended(stage, workflowId);
      return [workflowId];
    },
  };
}

/** A workflow that a schedule of the system starts. */
function scheduledPath(name: string, type: string, args: unknown[] = [], auditSteps = 3): Scenario {
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

async function cancelGroup({ client, group }: Stage): Promise<void> {
  await client.workflow.getHandle(wf(group)).cancel();
}

async function cancelGroupAtWork(stage: Stage): Promise<void> {
  await advances(stage, 2);
  await cancelGroup(stage);
}

async function cancelSecondStep(stage: Stage): Promise<number> {
  const batch = await startBatch(stage, { single: true });
  await advances(stage, 1);
  stage.batches.report(batch, 1, 'canceled');
  await tell(stage, batch, 0, 'succeeded');
  return batch;
}

/**
 * The paths through today's workflows. Those of 0.1.0 had types and scenarios of other names; their histories are among
 * those that test/released protects.
 */
export const SCENARIOS: readonly Scenario[] = [
  outcome('operation-succeeded', 'succeeded'),
  outcome('operation-failed', 'failed'),
  outcome('operation-row-canceled', 'canceled'),
  batchPath('operation-cancel-requested', [1], async (stage) => {
    const batch = await startBatch(stage);
    await advances(stage, 1);
    await stage.client.workflow.getHandle(wf(batch)).cancel();
    return batch;
  }),
  batchPath('operation-expired', [1], async (stage) => {
    stage.batches.due(stage.ids[0]!, Date.now() + 500, 'failed');
    const batch = await startBatch(stage);
    await advances(stage, 1);
    await stage.client.workflow.getHandle(wf(batch)).signal(WAKE_UP_SIGNAL);
    return batch;
  }),
  batchPath('operation-chain-after-window', [2], async (stage) => {
    stage.batches.due(stage.ids[0]!, Date.now() + 500, null);
    const batch = await startBatch(stage, { single: true });
    await advances(stage, 2);
    await tell(stage, batch, 0, 'succeeded');
    await until(() => stage.batches.progress(batch).succeeded === 1);
    await tell(stage, batch, 1, 'succeeded');
    return batch;
  }),
  batchPath('operation-chain-failed', [2], async (stage) => {
    const batch = await startBatch(stage, { single: true });
    await advances(stage, 1);
    stage.batches.report(batch, 1, 'canceled');
    await tell(stage, batch, 0, 'failed');
    return batch;
  }),
  batchPath('operation-chain-canceled', [2], cancelSecondStep),
  batchPath('operation-database-away', [1], async (stage) => {
    stage.batches.failures = 4;
    stage.batches.report(stage.ids[0]!, 0, 'succeeded');
    return await startBatch(stage);
  }),
  batchPath('operations-of-many', [50], async (stage) => {
    const batch = await startBatch(stage);
    for (let row = 0; row < 50; row += 1) await tell(stage, batch, row, row % 10 === 0 ? 'failed' : 'succeeded');
    return batch;
  }),
  batchPath('operations-continued-when-suggested', [12], async (stage) => {
    const batch = await startBatch(stage);
    for (let row = 0; row < 12; row += 1) {
      await tell(stage, batch, row, 'succeeded');
      await until(() => stage.batches.progress(batch).succeeded === row + 1);
    }
    return batch;
  }),
  groupPath('group-succeeded', [1, 1, 1], succeed),
  groupPath('group-failed', [1, 5], async (stage) => {
    await advances(stage, 2);
    const [first, second] = stage.ids as [number, number];
    await tell(stage, first, 0, 'failed');
    for (let row = 0; row < 5; row += 1) await tell(stage, second, row, 'succeeded');
  }),
  groupPath('group-cancel-requested', [1, 5], cancelGroupAtWork),
  groupPath('group-cancel-by-rows', [1, 12], async (stage) => {
    const large = stage.ids[1]!;
    await advances(stage, 2);
    for (let row = 0; row < 8; row += 1) {
      await tell(stage, large, row, 'canceled');
      await until(() => stage.batches.progress(large).canceled === row + 1);
    }
    await cancelGroup(stage);
  }),
  groupPath('group-rows-canceled', [1, 1], async (stage) => {
    await advances(stage, 2);
    for (const batch of stage.ids) await tell(stage, batch, 0, 'canceled');
  }),
  groupPath('group-cancelled-before-its-first-step', [1, 1], cancelGroup),
  scheduledPath('reconcile-by-name', RECONCILE_WORKFLOW),
  scheduledPath('activity-retention-by-name', ACTIVITY_RETENTION_WORKFLOW),
  scheduledPath('audit-retention-by-name', AUDIT_RETENTION_WORKFLOW, [{ deletedCount: 0 }]),
  scheduledPath(
    'audit-retention-by-name-continued-as-new',
    AUDIT_RETENTION_WORKFLOW,
    [{ deletedCount: 0 }],
    AUDIT_RETENTION_STEPS + 3,
  ),
  reportPath('usg-report-succeeded', 'succeeded'),
  reportPath('usg-report-failed', 'fails'),
  reportPath('usg-report-canceled', 'never ends'),
  reportPath('usg-report-row-canceled', 'canceled meanwhile'),
  triggerPath('profile-trigger-by-name', 0),
  triggerPath('profile-trigger-by-name-database-away', 4),
  ...GROUP_TYPES.filter((type) => type !== RELEASED_GROUP_WORKFLOW).map((type) =>
    groupPath(`group-${type}`, [1], succeed, type),
  ),
];
