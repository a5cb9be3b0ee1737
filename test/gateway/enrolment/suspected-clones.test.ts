import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { alertCondition } from '../../../src/persistence/query/alert-conditions.ts';
import { anAccount, anOperation, createGatewayWorld, type GatewayWorld } from '../../support/agents/gateway-world.ts';
import { type ExchangeResponse, RawAgent, result } from '../../support/agents/raw-agent.ts';

/** An agent behind a proxy, which passes its address on. */
class MovingAgent extends RawAgent {
  address = '192.0.2.1';

  override headers(): Record<string, string> {
    return { ...super.headers(), 'X-Forwarded-For': this.address };
  }
}

let world: GatewayWorld;
let account: { id: number; name: string };
let agent: MovingAgent;

beforeAll(async () => {
  world = await createGatewayWorld({ env: { FLOTILLA_TRUSTED_PROXIES: '127.0.0.1' } });
  account = await anAccount(world.db);
});
afterAll(() => world?.close());
beforeEach(async () => {
  const { id, secureId } = await RawAgent.enrol(world, account);
  agent = new MovingAgent(world, id, secureId);
  await agent.exchange();
});

const operationsIn = ({ messages }: ExchangeResponse) => messages.map((message) => message['operation-id']);

async function raised(): Promise<boolean> {
  const condition = alertCondition('computer-duplicates');
  const [row] = await world.db.query<{ raised: boolean }>(
    `select ${condition} as raised from computer c where c.id = $1`,
    [agent.id],
  );
  return row!.raised;
}

async function events(): Promise<Array<{ message: string; address: string }>> {
  return world.db.query<{ message: string; address: string }>(
    `select message, address from event where account_id = $1 and entity_type = 'Computer' and entity_id = $2 order by id`,
    [account.id, agent.id],
  );
}

describe('an exchange without a token from another address', () => {
  it('raises the alert and an event, hands over nothing yet, and goes on with the next', async () => {
    const operation = await anOperation(world.db, agent.id);
    agent.token = null;
    agent.address = '198.51.100.7';
    const first = await agent.exchange([{ type: 'computer-tags', tags: 'taken-in' }]);
    expect(operationsIn(first)).toEqual([]);
    expect(first.nextExpected).toBe(1);
    expect(await raised()).toBe(true);
    expect(await events()).toEqual([
      { address: '198.51.100.7', message: expect.stringContaining('without its token from 198.51.100.7') },
    ]);
    expect(operationsIn(await agent.exchange())).toEqual([operation]);
    await agent.exchange([result(operation)]);
    expect(await events()).toHaveLength(1);
  });

  it('does not send again what was sent before', async () => {
    const operation = await anOperation(world.db, agent.id);
    expect(operationsIn(await agent.send())).toEqual([operation]);
    for (const address of ['198.51.100.7', '198.51.100.8']) {
      agent.token = null;
      agent.address = address;
      expect(operationsIn(await agent.exchange())).toEqual([]);
    }
    expect(await events()).toHaveLength(2);
    expect(operationsIn(await agent.exchange())).toEqual([operation]);
  });

  it('never ends an operation that was held back', async () => {
    const operation = await anOperation(world.db, agent.id);
    expect(operationsIn(await agent.send())).toEqual([operation]);
    for (let i = 0; i < 30; i++) {
      agent.token = null;
      agent.address = `198.51.100.${i}`;
      expect(operationsIn(await agent.exchange())).toEqual([]);
    }
    expect(operationsIn(await agent.exchange())).toEqual([operation]);
  });

  it('is not suspected from the same IPv6 network', async () => {
    agent.address = '2001:db8:0:1::aaaa';
    await agent.exchange();
    agent.token = null;
    agent.address = '2001:db8:0:1::bbbb';
    await agent.exchange();
    expect([await raised(), await events()]).toEqual([false, []]);
  });
});

describe('an exchange whose counters do not continue', () => {
  it.each([
    ['is ahead', { sequence: 9 }],
    ['wants messages that were never sent', { 'next-expected-sequence': 50 }],
    ['falls back, with as many messages as make up for it', { sequence: 1 }],
  ])('raises the alert and an event and hands over nothing where it %s', async (_, change) => {
    await agent.exchange([result(1), result(2)]);
    await agent.exchange([result(3)]);
    const operation = await anOperation(world.db, agent.id);
    agent.token = null;
    const response = await agent.exchange([result(1), result(2), result(3)], change);
    expect(operationsIn(response)).toEqual([]);
    expect(await raised()).toBe(true);
    expect(await events()).toEqual([
      { address: '192.0.2.1', message: expect.stringContaining('counters that do not continue') },
    ]);
    expect(operationsIn(await agent.exchange())).toEqual([operation]);
  });

  it('raises both for a machine that fell back to a snapshot, before its next exchange hands anything over', async () => {
    const snapshot = { sequence: agent.sequence, next: agent.next };
    const done = await anOperation(world.db, agent.id);
    await agent.exchange();
    await agent.exchange([result(done)]);
    const operation = await anOperation(world.db, agent.id);
    Object.assign(agent, snapshot, { token: null });
    const restored = await agent.exchange();
    expect(restored.messages).toEqual([]);
    expect(await raised()).toBe(true);
    expect(await events()).toHaveLength(1);
    const next = await agent.exchange();
    expect(operationsIn(next)).toEqual([operation]);
  });
});

describe('an agent that is where it was', () => {
  it('is not suspected if it repeats a payload, with more messages, or moves with its token', async () => {
    const operation = await anOperation(world.db, agent.id);
    await agent.send([result(1)]);
    await agent.send([result(1), result(2)]);
    expect(operationsIn(await agent.exchange([result(1), result(2), result(3)]))).toEqual([operation]);
    agent.address = '198.51.100.7';
    await agent.exchange([result(operation)]);
    agent.token = null;
    await agent.exchange();
    expect([await raised(), await events()]).toEqual([false, []]);
  });

  it('repeats the event of one suspicion only after ten minutes, and the alert ends a day after the last', async () => {
    for (let i = 0; i < 3; i++) await agent.exchange([], { sequence: 9 });
    expect(await events()).toHaveLength(1);
    await world.db.query(
      `update computer_status set doubted_at = now() - interval '11 minutes' where computer_id = $1`,
      [agent.id],
    );
    await agent.exchange([], { sequence: 9 });
    expect(await events()).toHaveLength(2);
    await world.db.query(`update computer_status set doubted_at = now() - interval '25 hours' where computer_id = $1`, [
      agent.id,
    ]);
    expect(await raised()).toBe(false);
  });
});

describe('GET /attachment', () => {
  it('raises the alert and an event before it sends a file to another address', async () => {
    const [file] = await world.db.query<{ script: number; id: number }>(
      `with made as (
         insert into script (account_id, title, access_group_id, time_limit, username, creator_id, created_at,
           last_editor_id, last_edited_at)
         select $1, 'backup', id, 60, 'root', 1, now(), 1, now() from access_group where account_id = $1
         returning id)
       insert into script_attachment (script_id, filename, content, size) select id, 'key.txt', 'secret', 6 from made
       returning script_id as script, id`,
      [account.id],
    );
    const operation = await anOperation(world.db, agent.id, {
      messageType: 'execute-script',
      fields: { interpreter: '/bin/sh', code: 'cat key.txt\n', attachments: { 'key.txt': file!.id } },
    });
    await world.db.query(`update activity set type = 'ExecuteScriptRequest' where id = $1`, [operation]);
    await world.db.query(
      'update operation_payload set script_id = $2 where id = (select payload_id from activity where id = $1)',
      [operation, file!.script],
    );
    expect(operationsIn(await agent.exchange())).toEqual([operation]);
    const fetchFile = async () =>
      (await fetch(`${world.url}/attachment/${file!.id}`, { headers: agent.headers() })).text();
    expect(await fetchFile()).toBe('secret');
    expect(await events()).toEqual([]);
    agent.address = '198.51.100.7';
    expect(await fetchFile()).toBe('secret');
    expect(await raised()).toBe(true);
    expect(await events()).toEqual([
      { address: '198.51.100.7', message: expect.stringContaining('fetched a file of a script from 198.51.100.7') },
    ]);
  });
});
