import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVERYTHING, REGISTER_ONLY } from '../../../src/gateway/http/message-types.ts';
import { createServedFleet, ping, RawAgent, type ServedFleet } from '../../support/agents/raw-agent.ts';

let served: ServedFleet;
const account = { name: 'standalone' };

beforeAll(async () => {
  served = await createServedFleet();
  await served.db.query('update account set auto_register = false');
});
afterAll(() => served?.close());

const decide = (verb: 'accept' | 'reject', agent: RawAgent) =>
  served.app.call('POST', `/pending-computers:${verb}`, { token: served.token, body: { computer_ids: [agent.id] } });

async function enrolPending(): Promise<RawAgent> {
  const agent = await RawAgent.enrol(served, account);
  agent.typesDigest = REGISTER_ONLY.digest;
  expect((await agent.exchange()).types).toEqual([]);
  return agent;
}

describe('a pending computer', () => {
  it('learns at its next exchange that it was accepted, and a ping sends it there', async () => {
    const agent = await enrolPending();
    expect(await ping(served, agent.id)).toEqual({ messages: false });
    expect((await decide('accept', agent)).body).toEqual([agent.id]);
    expect(await ping(served, agent.id)).toEqual({ messages: true });
    const response = await agent.exchange();
    expect(response.messages).toEqual([{ type: 'accepted-types', types: [...EVERYTHING.types] }]);
    agent.typesDigest = EVERYTHING.digest;
    await served.install([agent]);
    await served.processEvents();
    expect((await agent.exchange()).types).toEqual(['install-snaps']);
  });

  it('is unknown after it was rejected, and may register again', async () => {
    const agent = await enrolPending();
    expect((await decide('reject', agent)).body).toEqual([agent.id]);
    expect(await ping(served, agent.id)).toEqual({});
    expect((await agent.exchange()).types).toEqual(['unknown-id', 'accepted-types']);
    for (const table of ['computer', 'agent', 'agent_identity', 'computer_contact', 'computer_inventory']) {
      const key = table === 'computer' ? 'id' : 'computer_id';
      expect(await served.db.query(`select from ${table} where ${key} = $1`, [agent.id]), table).toEqual([]);
    }
    const again = await enrolPending();
    expect(again.id).toBeGreaterThan(agent.id);
  });

  it('takes no WSL instance from the host of the fleet', async () => {
    const [host] = await served.db.query<{ id: number }>(
      `insert into computer (account_id, access_group_id, state, title, hostname, hostagent_uid)
       select a.id, g.id, 'approved', 'host', 'host', 'uid-9' from account a join access_group g on g.account_id = a.id
       where a.name = $1 and g.name = 'global' returning id`,
      [account.name],
    );
    const [child] = await served.db.query<{ id: number }>(
      `insert into computer (account_id, access_group_id, state, title, hostname, hostagent_uid, is_wsl, parent_id)
       select account_id, access_group_id, 'approved', 'child', 'child', 'uid-9', true, id from computer where id = $1
       returning id`,
      [host!.id],
    );
    await RawAgent.enrol(served, account, { hostagent_uid: 'uid-9' });
    const [kept] = await served.db.query('select parent_id from computer where id = $1', [child!.id]);
    expect(kept).toEqual({ parent_id: host!.id });
  });

  it('keeps its counters when it is accepted in the middle of an exchange', async () => {
    const agent = await enrolPending();
    const [response, accepted] = await Promise.all([agent.exchange(), decide('accept', agent)]);
    expect([response.status, accepted.status]).toEqual([200, 200]);
    const next = response.types.includes('accepted-types') ? response : await agent.exchange();
    expect(next.types).toEqual(['accepted-types']);
  });
});
