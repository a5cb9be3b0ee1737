import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ActivityRuntime,
  createActivityRuntime,
  createSqlFleet,
} from '../../support/activities/activity-runtime.ts';
import { until } from '../../support/temporal/workflow-environment.ts';

let runtime: ActivityRuntime;

beforeAll(async () => {
  runtime = await createActivityRuntime();
  await runtime.startWorker();
});

afterAll(async () => {
  await runtime?.close();
});

async function group(id: number): Promise<{ status: string; succeeded: number }> {
  const [row] = await runtime.db.query<{ status: string; succeeded: number }>(
    'select status, succeeded_count as succeeded from activity where id = $1',
    [id],
  );
  return row!;
}

describe('a dispatcher', () => {
  it('wakes all other batches while the server rejects one wake-up, and that batch later', async () => {
    let rejected = '';
    const client = runtime.clientWith({
      async signal(input, next) {
        if (input.workflowExecution.workflowId === rejected) throw new Error('rejected');
        await next(input);
      },
    });
    runtime.startDispatcher(client);
    const fleet = await createSqlFleet(runtime.db, 3);
    const id = await fleet.act();
    const batches = () =>
      runtime.db.query<{ wf_id: string; is_opened: boolean }>(
        'select wf_id, opened_at is not null as is_opened from lane where parent_id = $1 order by ordinal',
        [id],
      );
    // What comes before is processed without a wake-up.
    await until(async () => (await batches()).every((batch) => batch.is_opened));
    rejected = (await batches())[0]!.wf_id;
    let delivered = 0;
    await until(async () => {
      delivered += await fleet.deliver();
      return delivered === 3;
    });
    await fleet.report();
    await until(async () => (await group(id)).succeeded === 2);
    await until(() => runtime.events.refused > 0);
    expect(runtime.events.failed).toBe(0);
    rejected = '';
    await until(async () => (await group(id)).status === 'succeeded');
  });
});
