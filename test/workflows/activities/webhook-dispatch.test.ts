import { Webhook as Verifier } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../src/services/common/ports.ts';
import { createWebhooksService } from '../../../src/services/events/webhooks.service.ts';
import { createAccount } from '../../../tools/harness/accounts.ts';
import { webhookWorkflowId } from '../../../workflows/contracts/webhook.contract.ts';
import { type ActivityRuntime, createActivityRuntime } from '../../support/activities/activity-runtime.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/events/webhook-receiver.ts';
import { administratorOf, TEST_KEYS } from '../../support/http/app.ts';
import { until } from '../../support/temporal/workflow-environment.ts';

let runtime: ActivityRuntime;
let receiver: WebhookReceiver;

beforeAll(async () => {
  runtime = await createActivityRuntime();
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await runtime?.close();
  await receiver?.close();
});

it('sends events while workers and dispatchers come and go', async () => {
  const { db } = runtime;
  const { accountId, personId } = await createAccount(db, 'sending');
  const computer = await insertComputer(db, { accountId, title: 'web' });
  const settings = { encryptionKeys: TEST_KEYS, privateAddresses: true };
  const webhooks = createWebhooksService({ db, clock: systemClock, ...settings });
  const content = { url: receiver.url, types: ['computer.changed' as const], query: null, ordered: true };
  const caller = { ...(await administratorOf(db, { accountId, groupId: 0, computers: [] })), personId };
  const { webhook, secret } = await webhooks.create(caller, content);
  const change = (comment: string) => db.query('update computer set comment = $1 where id = $2', [comment, computer]);
  const received = (count: number) => until(() => receiver.received.length === count, 20_000);

  await change('before anything runs');
  const dispatcher = runtime.startDispatcher();
  const stopWorker = await runtime.startScheduleWorker();
  await received(1);
  await change('while it waits');
  await received(2);
  await stopWorker();
  await change('without a worker');
  await dispatcher.stop();
  await change('without a dispatcher');
  runtime.startDispatcher();
  await runtime.startScheduleWorker();
  await received(4);
  await runtime.client.workflow.getHandle(webhookWorkflowId(webhook.id)).terminate();
  await change('without its workflow');
  await received(5);

  const ids = receiver.received.map(({ body, headers }) => {
    return (new Verifier(secret).verify(body, headers as Record<string, string>) as { id: string }).id;
  });
  expect(new Set(ids).size).toBe(5);
  expect(await runtime.status(webhookWorkflowId(webhook.id))).toBe('RUNNING');
}, 60_000);
