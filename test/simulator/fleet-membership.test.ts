import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleet, type Fleet } from '../../tools/simulator/fleet.ts';
import { FAST_TIMES, QUIET } from '../support/agents/fleet-world.ts';
import { createServedFleet, type ServedFleet } from '../support/agents/raw-agent.ts';
import { until } from '../support/temporal/workflow-environment.ts';

let served: ServedFleet;
let fleet: Fleet;

beforeAll(async () => {
  served = await createServedFleet();
  await served.db.query('update account set auto_register = false');
  const times = { ...FAST_TIMES, pingMs: 200, exchangeMs: 500 };
  fleet = createFleet({ computers: 2, url: served.url, account: 'standalone', logger: QUIET, tickMs: 10, times });
  await fleet.start();
});
afterAll(async () => {
  await fleet?.stop();
  await served?.close();
});

const call = async (method: string, path: string, body?: object) =>
  (await served.app.call(method, path, { token: served.token, ...(body ? { body } : {}) })).body;
const pending = async (): Promise<Array<{ id: number; title: string }>> =>
  (await call('GET', '/pending-computers')).results;

describe('simulated computers', () => {
  it('report once they are accepted, carry out what they get, and register again when they were archived', async () => {
    await until(async () => (await pending()).length === 2);
    const computers = await pending();
    const ids = computers.map(({ id }) => id);
    expect(await call('POST', '/pending-computers:accept', { computer_ids: ids })).toEqual(ids);
    await until(async () => {
      const { results } = await call('GET', '/computers?root_only=false');
      return results.length === 2 && results.every((c: { total_memory: number | null }) => c.total_memory !== null);
    });
    const [first, second] = computers as [{ id: number; title: string }, { id: number; title: string }];
    const sanitizing = await call('POST', `/computers/${first.id}/sanitize`, { computer_title: first.title });
    await until(async () => {
      await served.processEvents();
      return (await call('GET', `/activities/${sanitizing.id}`)).activity_status === 'succeeded';
    });
    await call('POST', `/computers/${second.id}/archive`, { computer_title: second.title });
    await until(async () => (await pending()).some(({ title }) => title === second.title));
    expect((await call('GET', `/computers/${second.id}`)).archived).toBe(true);
    expect((await pending()).map(({ id }) => id)).not.toContain(second.id);
  });
});
