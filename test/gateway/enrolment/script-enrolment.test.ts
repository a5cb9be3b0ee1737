import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleet, type Fleet } from '../../../tools/simulator/fleet.ts';
import { FAST_TIMES, QUIET } from '../../support/agents/fleet-world.ts';
import { createServedFleet, type ServedFleet } from '../../support/agents/raw-agent.ts';
import { script, scriptProfile } from '../../support/scripts/scripts.ts';
import { until } from '../../support/temporal/workflow-environment.ts';

const COMPUTERS = 12;

let served: ServedFleet;
let fleet: Fleet | null = null;

beforeAll(async () => {
  served = await createServedFleet();
});
afterAll(async () => {
  await fleet?.stop();
  await served?.close();
});

const call = async (method: string, path: string, body?: object) =>
  (await served.app.call(method, path, { token: served.token, ...(body ? { body } : {}) })).body;

describe('computers that enrol over HTTP', () => {
  it('run every profile with the event once, to the end', async () => {
    const { id } = await call('POST', '/scripts', script());
    const trigger = { trigger_type: 'event', event_type: 'post_enrollment' };
    const profiles: number[] = [];
    for (const title of ['First', 'Second']) {
      const profile = await call('POST', '/script-profiles', scriptProfile(id, { title, trigger }));
      profiles.push(profile.id);
    }
    const times = { ...FAST_TIMES, pingMs: 200, exchangeMs: 500 };
    const options = { computers: COMPUTERS, url: served.url, account: 'standalone', logger: QUIET, tickMs: 10, times };
    fleet = createFleet(options);
    await fleet.start();
    const activities = async (profile: number) =>
      (await call('GET', `/script-profiles/${profile}/activities`)).results as Array<{ activity_status: string }>;
    await until(async () => {
      await served.processEvents();
      const lists = await Promise.all(profiles.map(activities));
      return lists.every((list) => list.filter((run) => run.activity_status === 'succeeded').length === COMPUTERS);
    }, 30_000);
    const [counted] = await served.db.query(
      `select count(*)::int as operations, count(distinct (r.profile_id, k.computer_id))::int as pairs,
         count(distinct k.computer_id)::int as computers
       from script_profile_run r join activity k on k.parent_id = r.activity_id`,
    );
    expect(counted).toEqual({ operations: 2 * COMPUTERS, pairs: 2 * COMPUTERS, computers: COMPUTERS });
    const [{ activity_status: status }] = (await activities(profiles[0]!)) as [{ activity_status: string }];
    expect(status).toBe('succeeded');
  });
});
