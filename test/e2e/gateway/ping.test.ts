import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  anAccount,
  anOperation,
  createGatewayWorld,
  type GatewayWorld,
  ping,
  RawAgent,
} from '../../support/gateway-world.ts';

let world: GatewayWorld;

beforeAll(async () => {
  world = await createGatewayWorld();
});
afterAll(() => world?.close());

describe('POST /ping', () => {
  it('answers unknown computers with an empty dict', async () => {
    expect(await ping(world, 4711)).toEqual({});
    expect(await ping(world, 99_999_999_999)).toEqual({});
    const response = await fetch(`${world.url}/ping`, { method: 'POST', body: 'nonsense' });
    expect(await response.text()).toBe('d;');
  });

  it('tells a computer about operations that are due, and notes when it was heard from', async () => {
    const account = await anAccount(world.db);
    const agent = await RawAgent.enrol(world, account);
    await agent.exchange();
    expect(await ping(world, agent.id)).toEqual({ messages: false });
    const later = new Date(world.clock.now().getTime() + 60_000);
    await anOperation(world.db, agent.id, { deliverAt: later });
    expect(await ping(world, agent.id)).toEqual({ messages: false });
    world.clock.advance(61_000);
    expect(await ping(world, agent.id)).toEqual({ messages: true });
    await expect
      .poll(() => world.db.query('select last_ping_time from computer_contact where computer_id = $1', [agent.id]))
      .toEqual([{ last_ping_time: world.clock.now() }]);
  });
});
