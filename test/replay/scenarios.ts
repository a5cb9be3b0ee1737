import { WAKE_UP_SIGNAL } from '../../workflows/contracts/activity.contract.ts';
import {
  ACTIVITY_RETENTION_WORKFLOW,
  AUDIT_RETENTION_STEPS,
  AUDIT_RETENTION_WORKFLOW,
  HASH_ID_DATABASES_WORKFLOW,
  RECONCILE_WORKFLOW,
} from '../../workflows/contracts/housekeeping.contract.ts';
import { GROUP_TYPES, RELEASED_GROUP_WORKFLOW } from '../../workflows/contracts/workflow-types.ts';
import { until } from '../support/temporal/workflow-environment.ts';
import {
  advances,
  batchPath,
  cancelGroup,
  cancelGroupAtWork,
  cancelSecondStep,
  computerPath,
  groupPath,
  outcome,
  refreshed,
  reportOutcome,
  reportPath,
  type Scenario,
  scheduledPath,
  startBatch,
  succeed,
  triggerPath,
  waitingReportPath,
  webhookPath,
  wf,
} from './paths.ts';

/**
 * The paths through today's workflows. Those of 0.1.0 had types and scenarios of other names; their histories are among
 * those that test/released protects.
 */
export const SCENARIOS: readonly Scenario[] = [
  outcome('operation-succeeded', 'succeeded'),
  // Woken by the signal of today's name; the others were recorded with that of 0.1.0.
  outcome('operation-woken', 'succeeded'),
  computerPath('computer-woken', 1, (stage, batch) => reportOutcome(stage, batch, 0, 'succeeded')),
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
    await reportOutcome(stage, batch, 0, 'succeeded');
    await until(() => stage.batches.progress(batch).succeeded === 1);
    await reportOutcome(stage, batch, 1, 'succeeded');
    return batch;
  }),
  batchPath('operation-chain-failed', [2], async (stage) => {
    const batch = await startBatch(stage, { single: true });
    await advances(stage, 1);
    stage.batches.report(batch, 1, 'canceled');
    await reportOutcome(stage, batch, 0, 'failed');
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
    for (let row = 0; row < 50; row += 1)
      await reportOutcome(stage, batch, row, row % 10 === 0 ? 'failed' : 'succeeded');
    return batch;
  }),
  batchPath('operations-continued-when-suggested', [12], async (stage) => {
    const batch = await startBatch(stage);
    for (let row = 0; row < 12; row += 1) {
      await reportOutcome(stage, batch, row, 'succeeded');
      await until(() => stage.batches.progress(batch).succeeded === row + 1);
    }
    return batch;
  }),
  ...(['succeeded', 'failed', 'canceled'] as const).map((end) =>
    computerPath(`computer-${end}`, 1, (stage, batch) => reportOutcome(stage, batch, 0, end)),
  ),
  computerPath('computer-chain-failed', 2, async (stage, batch) => {
    await reportOutcome(stage, batch, 0, 'succeeded');
    await until(() => stage.batches.progress(batch).succeeded === 1);
    await reportOutcome(stage, batch, 1, 'failed');
  }),
  computerPath('computer-cancel-requested', 2, async (stage, batch) => {
    await stage.client.workflow.getHandle(wf(batch)).cancel();
  }),
  computerPath('computer-due', 1, async (stage, batch) => {
    stage.batches.due(batch, Date.now() + 500, 'failed');
    await stage.client.workflow.getHandle(wf(batch)).signal(WAKE_UP_SIGNAL);
  }),
  computerPath('computer-database-away', 1, async (stage, batch) => {
    stage.batches.failures = 4;
    await reportOutcome(stage, batch, 0, 'succeeded');
  }),
  groupPath('group-succeeded', [1, 1, 1], succeed),
  groupPath('group-failed', [1, 5], async (stage) => {
    await advances(stage, 2);
    const [first, second] = stage.ids as [number, number];
    await reportOutcome(stage, first, 0, 'failed');
    for (let row = 0; row < 5; row += 1) await reportOutcome(stage, second, row, 'succeeded');
  }),
  groupPath('group-cancel-requested', [1, 5], cancelGroupAtWork),
  groupPath('group-cancel-by-rows', [1, 12], async (stage) => {
    const large = stage.ids[1]!;
    await advances(stage, 2);
    for (let row = 0; row < 8; row += 1) {
      await reportOutcome(stage, large, row, 'canceled');
      await until(() => stage.batches.progress(large).canceled === row + 1);
    }
    await cancelGroup(stage);
  }),
  groupPath('group-rows-canceled', [1, 1], async (stage) => {
    await advances(stage, 2);
    for (const batch of stage.ids) await reportOutcome(stage, batch, 0, 'canceled');
  }),
  groupPath('group-cancelled-before-its-first-step', [1, 1], cancelGroup),
  groupPath('group-listed-succeeded', [1, 2], async (stage) => {
    await refreshed(stage);
    const [first, second] = stage.ids as [number, number];
    await reportOutcome(stage, first, 0, 'succeeded');
    for (const row of [0, 1]) await reportOutcome(stage, second, row, 'succeeded');
  }),
  groupPath('group-listed-canceled', [1, 2], async (stage) => {
    await refreshed(stage);
    await cancelGroup(stage);
  }),
  scheduledPath('reconcile-by-name', RECONCILE_WORKFLOW),
  scheduledPath('activity-retention-by-name', ACTIVITY_RETENTION_WORKFLOW),
  scheduledPath('audit-retention-by-name', AUDIT_RETENTION_WORKFLOW, [{ deletedCount: 0 }]),
  scheduledPath(
    'audit-retention-by-name-continued-as-new',
    AUDIT_RETENTION_WORKFLOW,
    [{ deletedCount: 0 }],
    AUDIT_RETENTION_STEPS + 3,
  ),
  scheduledPath('hash-id-databases', HASH_ID_DATABASES_WORKFLOW),
  webhookPath,
  reportPath('usg-report-succeeded', 'succeeded'),
  reportPath('usg-report-failed', 'fails'),
  reportPath('usg-report-canceled', 'never ends'),
  reportPath('usg-report-row-canceled', 'canceled meanwhile'),
  waitingReportPath('usg-report-canceled-while-waiting'),
  triggerPath('profile-trigger-by-name', 0),
  triggerPath('profile-trigger-by-name-database-away', 4),
  ...GROUP_TYPES.filter((type) => type !== RELEASED_GROUP_WORKFLOW).map((type) =>
    groupPath(`group-${type}`, [1], succeed, type),
  ),
];
