import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGroup } from '../../../src/persistence/activities/activity-creation.repository.ts';
import { awaitActivity } from '../../../src/persistence/engine/prior-activities.sql.ts';
import { childrenOf, SETTINGS } from '../../support/activities/activity-rows.ts';
import {
  type ActivityRuntime,
  createActivityRuntime,
  createSqlFleet,
  type SqlFleet,
} from '../../support/activities/activity-runtime.ts';
import { until } from '../../support/temporal/workflow-environment.ts';

let runtime: ActivityRuntime;
let fleet: SqlFleet;

beforeAll(async () => {
  runtime = await createActivityRuntime();
  await runtime.startWorker();
  runtime.startDispatcher();
  fleet = await createSqlFleet(runtime.db, 60);
});
afterAll(() => runtime?.close());

/** An action on some computers that follows an activity, as the API makes it. */
function follow(after: number, computers: readonly number[]): Promise<number> {
  return runtime.db.transaction(async (tx) => {
    expect(await awaitActivity(tx, fleet.accountId, after, computers)).toEqual([]);
    const plan = {
      accountId: fleet.accountId,
      creatorId: null,
      type: 'ActivityGroup',
      summary: 'Remove snap hello',
      now: new Date(),
      deliverAfter: null,
      windowMinutes: 0,
      computers,
      operations: [
        { type: 'RemoveSnaps', summary: 'Remove snap hello', message: { type: 'remove-snaps', fields: {} } },
      ],
      afterActivity: after,
    };
    return createGroup(tx, plan, SETTINGS);
  });
}

/** Delivers operations as they come, until it was as many as this. */
async function deliver(count: number): Promise<void> {
  let delivered = 0;
  await until(async () => {
    delivered += await fleet.deliver();
    return delivered >= count;
  });
}

const statuses = async (group: number) => new Set((await childrenOf(runtime.db, group)).map(({ status }) => status));
const allAre = (group: number, status: string) => async () => {
  const found = await statuses(group);
  return found.size === 1 && found.has(status);
};

describe('workflows of activities that follow another', () => {
  it.each([
    ['a batch of many computers after another', 60, 60],
    ['single computers after a large batch', 60, 3],
  ])('%s: start with its success, and each ends as its operations do', async (_, first, second) => {
    const prior = await fleet.act(fleet.computers.slice(0, first));
    const next = await follow(prior, fleet.computers.slice(0, second));
    const last = await follow(next, fleet.computers.slice(0, second));
    await deliver(first);
    expect([await statuses(next), await statuses(last)]).toEqual([new Set(['waiting']), new Set(['waiting'])]);
    await fleet.report();
    await deliver(second);
    await until(allAre(next, 'delivered'));
    expect(await statuses(last)).toEqual(new Set(['waiting']));
    await fleet.report(false);
    await until(allAre(last, 'canceled'));
    await until(async () => (await runtime.status(`activity/${last}`)) === 'CANCELLED');
    expect([await runtime.status(`activity/${prior}`), await runtime.status(`activity/${next}`)]).toEqual([
      'COMPLETED',
      'FAILED',
    ]);
  });
});
