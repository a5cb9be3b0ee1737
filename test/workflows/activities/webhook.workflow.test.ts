import { randomInt } from 'node:crypto';
import { describe, expect } from 'vitest';
import {
  WEBHOOK_WORKFLOW,
  type WebhookProgress,
  webhookWorkflowId,
} from '../../../workflows/contracts/webhook.contract.ts';
import { it } from '../../support/temporal/skipped-time.ts';
import {
  countEvents,
  startWorker,
  until,
  wakeUp,
  workflowCodeContinuingAfter,
} from '../../support/temporal/workflow-environment.ts';

const ACTIVE: WebhookProgress = { state: 'active', more: false, waitMs: null };
const ENDED: WebhookProgress = { state: 'ended', more: false, waitMs: null };

/** The workflow of a webhook whose steps return `results`, the last one again and again. */
const itWithSteps = it
  .extend('results', (): WebhookProgress[] => [])
  .extend('steps', (): number[] => [])
  .extend('code', (): string | undefined => undefined)
  .extend('id', () => randomInt(1, 2 ** 31))
  .extend('start', ({ server, results, steps, code, id }, { onCleanup }) => async () => {
    const deliverWebhook = async ({ webhook }: { webhook: number }) => {
      steps.push(await server.currentTimeMs());
      expect(webhook).toBe(id);
      return results.length > 1 ? results.shift() : results[0];
    };
    const setup = { connection: server.nativeConnection, activities: { deliverWebhook } };
    const { taskQueue, stop } = await startWorker(code ? { ...setup, code } : setup);
    onCleanup(stop);
    const workflowId = webhookWorkflowId(id);
    return server.client.workflow.start(WEBHOOK_WORKFLOW, { taskQueue, workflowId, args: [{ webhook: id }] });
  });

itWithSteps('runs steps while there is more, and ends with the webhook', async ({ start, results, steps }) => {
  results.push({ ...ACTIVE, more: true }, { ...ACTIVE, more: true }, ENDED);
  const handle = await start();
  expect(await handle.result()).toEqual({ state: 'ended' });
  expect(steps).toHaveLength(3);
});

itWithSteps('waits until a delivery is due again', async ({ start, results, steps }) => {
  results.push({ ...ACTIVE, waitMs: 1_440 }, { ...ACTIVE, waitMs: 15_000 }, ENDED);
  const handle = await start();
  await handle.result();
  expect(steps[2]! - steps[1]!).toBeGreaterThanOrEqual(15_000);
});

itWithSteps('looks once an hour without a wake-up', async ({ start, results, steps }) => {
  results.push(ACTIVE, { ...ACTIVE, waitMs: 24 * 3_600_000 }, ENDED);
  const handle = await start();
  await handle.result();
  for (const place of [0, 1]) {
    const waited = steps[place + 1]! - steps[place]!;
    expect(waited).toBeGreaterThanOrEqual(3_600_000);
    expect(waited).toBeLessThan(3_700_000);
  }
});

itWithSteps('runs a step for a wake-up', async ({ server, start, results, steps, id }) => {
  results.push(ACTIVE, ENDED);
  const handle = await start();
  await until(() => steps.length === 1);
  await wakeUp(server.client, webhookWorkflowId(id));
  await until(() => steps.length === 2);
  expect(steps[1]! - steps[0]!).toBeLessThan(3_600_000);
  await handle.result();
});

describe('with a long history', () => {
  itWithSteps.override('code', () => workflowCodeContinuingAfter(20));

  itWithSteps('continues as new', async ({ server, start, results, steps, id }) => {
    results.push(...Array.from({ length: 8 }, () => ({ ...ACTIVE, more: true })), ENDED);
    const handle = await start();
    expect(await handle.result()).toEqual({ state: 'ended' });
    expect(steps).toHaveLength(9);
    const first = server.client.workflow.getHandle(webhookWorkflowId(id), handle.firstExecutionRunId);
    expect((await countEvents(first)).of('workflowExecutionContinuedAsNew')).toBe(1);
  });
});
