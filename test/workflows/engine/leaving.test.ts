import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/process/config.ts';
import { type Caller, systemClock } from '../../../src/services/common/ports.ts';
import { createComputerRemovalService } from '../../../src/services/computers/computer-removal.service.ts';
import {
  type ActivityRuntime,
  createActivityRuntime,
  createSqlFleet,
  type SqlFleet,
} from '../../support/activities/activity-runtime.ts';
import { TEST_TOKEN } from '../../support/http/app.ts';
import { until } from '../../support/temporal/workflow-environment.ts';

let runtime: ActivityRuntime;
let fleet: SqlFleet;

beforeAll(async () => {
  runtime = await createActivityRuntime();
  fleet = await createSqlFleet(runtime.db, 60);
});
afterAll(() => runtime?.close());

const caller = (): Caller => ({
  token: TEST_TOKEN,
  personId: 1,
  email: 'admin@fleet.example',
  name: 'Admin',
  accountId: fleet.accountId,
  accountName: 'a',
  may: () => true,
  groups: () => 'all',
  origin: { address: '127.0.0.1', requestId: 'r' },
});
const removal = () =>
  createComputerRemovalService({ db: runtime.db, clock: systemClock, settings: loadConfig({}, 'stack').activities });
const archive = async (id: number) => {
  const [computer] = await runtime.db.query<{ title: string }>('select title from computer where id = $1', [id]);
  return removal().archive(caller(), { id, title: computer!.title, traceparent: null });
};
const statusOf = async (id: number) => {
  const [row] = await runtime.db.query<{ status: string; open: number }>(
    'select status, open_count as open from activity where id = $1',
    [id],
  );
  return row!;
};
const batchesOf = async (group: number) =>
  (await runtime.db.query<{ wf_id: string }>('select wf_id from lane where parent_id = $1', [group])).map(
    (l) => l.wf_id,
  );
const ended = (group: number, status: string) =>
  until(
    async () => (await statusOf(group)).status === status && (await runtime.status(`activity/${group}`)) !== 'RUNNING',
  );

describe('computers that leave', () => {
  it('are waited for by no workflow, and archiving is a workflow that completes', async () => {
    const [first, second, third] = fleet.computers as [number, number, number];
    // Made before any worker runs: the archiving is requested before its workflow first looks at it.
    const alone = await fleet.act([first]);
    const early = await archive(first);
    const pair = await fleet.act([second, third]);
    runtime.startDispatcher();
    await runtime.startWorker();
    await ended(early.id, 'succeeded');
    expect(await runtime.status(`activity/${early.id}`)).toBe('COMPLETED');
    await ended(alone, 'canceled');
    for (const id of await batchesOf(alone)) expect(await runtime.status(id)).toBe('CANCELLED');
    let delivered = 0;
    await until(async () => {
      delivered += await fleet.deliver();
      return delivered === 2;
    });
    await until(async () => (await statusOf(pair)).status === 'delivered');
    await removal().remove(caller(), [second], null);
    await fleet.report(true);
    // One was canceled, the other succeeded.
    await ended(pair, 'canceled');
    expect(await runtime.status(`activity/${pair}`)).toBe('CANCELLED');
    const counts = await runtime.db.query(
      'select open_count, succeeded_count, canceled_count, children_count from activity where id = $1',
      [pair],
    );
    expect(counts).toEqual([{ open_count: 0, succeeded_count: 1, canceled_count: 1, children_count: 2 }]);
  });

  it('end their part of a large batch, which continues for the others', async () => {
    const computers = fleet.computers.slice(5, 45);
    const group = await fleet.act(computers);
    let delivered = 0;
    await until(async () => {
      delivered += await fleet.deliver();
      return delivered === computers.length;
    });
    await removal().remove(caller(), computers.slice(0, 30), null);
    await until(async () => (await statusOf(group)).open === 10);
    await fleet.report(true);
    await ended(group, 'canceled');
    const [counts] = await runtime.db.query(
      `select succeeded_count as succeeded, canceled_count as canceled,
         (select count(*)::int from activity k where k.parent_id = a.id and k.status = 'canceled') as found
       from activity a where id = $1`,
      [group],
    );
    expect(counts).toEqual({ succeeded: 10, canceled: 30, found: 30 });
    for (const id of await batchesOf(group)) expect(await runtime.status(id)).toBe('COMPLETED');
    const left = await runtime.db.query('select from agent_inbox union all select from outbox');
    expect(left).toEqual([]);
  });
});
