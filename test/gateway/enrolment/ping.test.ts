import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decode } from '../../../src/protocol/bpickle.ts';
import { anAccount, anOperation, createGatewayWorld, type GatewayWorld } from '../../support/agents/gateway-world.ts';
import { ping, RawAgent } from '../../support/agents/raw-agent.ts';

let world: GatewayWorld;

beforeAll(async () => {
  world = await createGatewayWorld({ env: { FLOTILLA_TRUSTED_PROXIES: '127.0.0.1' } });
});
afterAll(() => world?.close());

describe('POST /ping', () => {
  it('responds to unknown computers with an empty dict', async () => {
    expect(await ping(world, 4711)).toEqual({});
    expect(await ping(world, 99_999_999_999)).toEqual({});
    const response = await fetch(`${world.url}/ping`, { method: 'POST', body: 'nonsense' });
    expect(await response.text()).toBe('d;');
  });

  it('notifies a computer of operations that are due, and notes when it was heard from', async () => {
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

  it('changes nothing where it names no computer, or comes from elsewhere than the computer', async () => {
    const agent = await RawAgent.enrol(world, await anAccount(world.db));
    const heard = async () => {
      await world.gateway.close();
      return world.db.query('select * from computer_contact order by computer_id');
    };
    const from = async (address: string, id = agent.id) => {
      const body = `insecure_id=${id}`;
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'X-Forwarded-For': address };
      const reply = await fetch(`${world.url}/ping`, { method: 'POST', headers, body });
      return decode(Buffer.from(await reply.arrayBuffer()));
    };
    agent.headers = () => ({ 'X-Computer-ID': agent.secureId, 'X-Forwarded-For': '192.0.2.1' });
    await agent.exchange();
    world.clock.advance(60_000);
    const before = await heard();
    expect(await from('192.0.2.1', 4711)).toEqual({});
    expect(await from('198.51.100.7')).toEqual({ messages: true });
    expect(await from('198.51.100.7')).toEqual({ messages: false });
    expect(await heard()).toEqual(before);
    expect(await from('192.0.2.1')).toEqual({ messages: false });
    expect(await heard()).toContainEqual(
      expect.objectContaining({ computer_id: agent.id, last_ping_time: world.clock.now() }),
    );
    agent.headers = () => ({ 'X-Computer-ID': agent.secureId, 'X-Forwarded-For': '198.51.100.7' });
    await agent.exchange();
    world.clock.advance(60_000);
    expect(await from('198.51.100.7')).toEqual({ messages: false });
    expect(await heard()).toContainEqual(
      expect.objectContaining({ computer_id: agent.id, last_ping_time: world.clock.now() }),
    );
  });
});
