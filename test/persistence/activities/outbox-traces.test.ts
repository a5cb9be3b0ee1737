import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cancelActivities, lockBatchesOf } from '../../../src/persistence/activities/activity-cancel.sql.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { createLogger, type Logger } from '../../../src/process/logger.ts';
import { startTracing } from '../../../src/process/tracing.ts';
import { outboxPoll } from '../../../workers/dispatcher/outbox.ts';
import { aGroup, anAccount, type TestAccount } from '../../support/activities/activity-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { startOtlpReceiver } from '../../support/http/servers.ts';

let database: TestDatabase;
let db: Database;
let account: TestAccount;
let directory: string;
let logger: Logger;
let traceId: string;
let traceparent: string;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
  account = await anAccount(db);
  directory = mkdtempSync(join(tmpdir(), 'flotilla-outbox-'));
  logger = createLogger({ level: 'debug', role: 'test', file: join(directory, 'log') });
});

afterAll(async () => {
  await database?.drop();
  rmSync(directory, { recursive: true });
});

beforeEach(() => {
  traceId = crypto.randomUUID().replaceAll('-', '');
  traceparent = `00-${traceId}-${traceId.slice(0, 16)}-01`;
});

/** One round of an outbox dispatcher whose server takes everything but what `rejects` names. */
async function dispatch(rejects: readonly string[] = []): Promise<void> {
  const take = async (workflowId: string): Promise<void> => {
    if (rejects.includes(workflowId)) throw new Error('rejected');
  };
  const round = outboxPoll({
    ...database.persistence,
    client: {
      withDeadline: (_: number, work: () => Promise<unknown>) => work(),
      workflow: { getHandle: (id: string) => ({ cancel: () => take(id) }) },
    } as unknown as Client,
    starter: {
      start: async ({ workflowId }) => {
        await take(workflowId);
        return true;
      },
    },
    logger,
    count: () => undefined,
  });
  while ((await round()) === true);
}

const cancel = (group: number, by: string | null) =>
  db.transaction(async (tx) => {
    const { accountId } = account;
    await lockBatchesOf(tx, accountId, [group]);
    const cancellation = { accountId, groups: [group], operations: [], now: new Date(), text: null, traceparent: by };
    await cancelActivities(tx, cancellation);
  });

function lines(): Array<Record<string, unknown>> {
  const text = readFileSync(join(directory, 'log'), 'utf8').trimEnd();
  return text.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('the lines of an outbox dispatcher, with tracing off', () => {
  it('name the trace of the request that caused the start or the cancel', async () => {
    const group = await aGroup(db, account, { traceparent });
    await dispatch();
    await cancel(group, traceparent);
    await dispatch();
    const about = { trace_id: traceId, activityId: group, workflowId: `activity/${group}` };
    const mine = lines().filter((line) => line['trace_id'] === traceId);
    expect(mine).toEqual([
      expect.objectContaining({ ...about, msg: 'workflow started' }),
      expect.objectContaining({ ...about, msg: 'workflow cancel requested' }),
    ]);
  });

  it('name it where the server rejects, and no trace where there is none', async () => {
    const [rejected, plain] = [await aGroup(db, account, { traceparent }), await aGroup(db, account)];
    await dispatch([`activity/${rejected}`]);
    const mine = lines().filter((line) => line['trace_id'] === traceId);
    expect(mine.map(({ msg }) => msg)).toEqual([
      'Temporal rejected an outbox command; will retry',
      'outbox command is kept',
    ]);
    const other = lines().find(({ activityId }) => activityId === plain);
    expect(other).toMatchObject({ msg: 'workflow started' });
    expect(other).not.toHaveProperty('trace_id');
    await db.query('delete from outbox');
  });
});

describe('the spans of an outbox dispatcher', () => {
  it('continue the request that starts a workflow, and the one that cancels it', async () => {
    const receiver = await startOtlpReceiver();
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = receiver.url;
    const tracing = await startTracing('test', logger, process.env);
    try {
      const group = await aGroup(db, account);
      await cancel(group, traceparent);
      await dispatch();
      const started = await aGroup(db, account, { traceparent });
      await dispatch();
      await tracing.close();
      const at = { traceId, parentSpanId: traceId.slice(0, 16), failed: false };
      const about = (id: number) => ({ 'flotilla.activity_id': id, 'flotilla.workflow_id': `activity/${id}` });
      expect(receiver.spans.filter((span) => span.traceId === traceId)).toEqual([
        expect.objectContaining({ ...at, name: 'outbox cancel', attributes: about(group) }),
        expect.objectContaining({ ...at, name: 'outbox start', attributes: about(started) }),
      ]);
      expect(receiver.bodies.join()).toContain('"kind":4');
    } finally {
      delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
      await tracing.close();
      await receiver.close();
    }
  });
});
