import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BTuple, type BValue } from '../../../src/protocol/bpickle.ts';
import {
  anAccount,
  anOperation,
  createGatewayWorld,
  type GatewayWorld,
  inbox,
  messageStates,
} from '../../support/agents/gateway-world.ts';
import { RawAgent, result } from '../../support/agents/raw-agent.ts';
import { reportedRows } from '../../support/computers/computers.ts';

let world: GatewayWorld;
let agent: RawAgent;
let account: { id: number; name: string };
const { computer, rejected } = reportedRows(
  () => world,
  () => agent,
);

beforeAll(async () => {
  world = await createGatewayWorld();
  account = await anAccount(world.db);
});
afterAll(() => world?.close());
beforeEach(async () => {
  agent = await RawAgent.enrol(world, account);
  await agent.exchange();
});

describe('AGENT-poison: messages that make no sense', () => {
  const nonsense: BValue[] = [
    7,
    {},
    { type: 9 },
    { type: 'computer-info', hostname: 3 },
    { type: 'computer-info', 'total-memory': 2 ** 40 },
    { type: 'snaps', snaps: [] },
    { type: 'snaps', snaps: { installed: [{ id: 'nameless' }] } },
    { type: 'packages', installed: [new BTuple([5, 1])] },
    { type: 'packages', installed: ['x'] },
    { type: 'add-packages', 'request-id': 1, packages: [{}] },
    { type: 'add-packages', 'request-id': 1, packages: [{ type: 65537, name: 'jq 1.7', version: '2' }] },
    { type: 'add-packages', 'request-id': 1, packages: [{ type: 65537, name: 'jq', version: '1.7][1 provides' }] },
    { type: 'add-packages', 'request-id': 1, packages: [{ type: 65537, name: 'jq', version: '1.7]' }] },
    { type: 'unknown-package-hashes', 'request-id': 1, hashes: [Buffer.from('short')] },
    { type: 'active-process-info', 'add-processes': [{ pid: 2n ** 70n }] },
    { type: 'users', 'create-group-members': { g: 'x' } },
    { type: 'network-device', devices: [{}] },
    { type: 'operation-result' },
    { type: 'operation-result', 'operation-id': 'x', status: 6 },
    { type: 'livepatch', livepatch: `{"a": ${'['.repeat(5000)}${']'.repeat(5000)}}` },
    { type: 'reboot-required-info', flag: 'yes' },
  ];

  it('are consumed and noted, and the others count', async () => {
    const response = await agent.exchange([...nonsense, { type: 'computer-info', hostname: 'fine' }]);
    expect(response).toMatchObject({ status: 200, nextExpected: nonsense.length + 1 });
    expect((await computer())['hostname']).toBe('fine');
    expect((await rejected()).reduce((sum, row) => sum + (row['seen'] as number), 0)).toBe(nonsense.length);
  });

  it('of unknown types are counted over all computers', async () => {
    await agent.exchange([{ type: 'load-average' }, { type: 'load-average' }, { type: 'from\0 the future' }]);
    await expect
      .poll(() => world.db.query('select type, seen from agent_unknown_type order by type'))
      .toEqual([
        { type: 'from the future', seen: 1 },
        { type: 'load-average', seen: 2 },
      ]);
    expect(await rejected()).toEqual([]);
  });

  it('that the database rejects are put aside alone', async () => {
    await world.db.query(`alter table computer_hardware add constraint rejected check (data <> 'rejected')`);
    const response = await agent.exchange([
      { type: 'computer-info', hostname: 'before' },
      { type: 'hardware-info', data: 'rejected' },
      { type: 'computer-info', 'total-memory': 5 },
    ]);
    expect(response.nextExpected).toBe(3);
    expect(await computer()).toMatchObject({ hostname: 'before', total_memory: 5 });
    expect(await rejected()).toEqual([{ type: 'hardware-info', seen: 1 }]);
  });

  it('beside others that cannot be stored just now come once more with these', async () => {
    await world.db.query(`alter table computer add constraint ill check (hostname <> 'ill')`);
    await world.db.query(
      `create function away() returns trigger language plpgsql as
       $$ begin raise exception 'locked' using errcode = '55P03'; end $$`,
    );
    await world.db.query(
      `create trigger away before insert or update on computer_hardware
       for each row when (new.data = 'late') execute function away()`,
    );
    const messages: BValue[] = [
      { type: 'computer-info', hostname: 'ill' },
      { type: 'hardware-info', data: 'late' },
    ];
    expect((await agent.exchange(messages)).status).toBe(503);
    expect(await rejected()).toEqual([]);
    await world.db.query('drop trigger away on computer_hardware');
    expect(await agent.exchange(messages)).toMatchObject({ status: 200, nextExpected: 2 });
    expect(await rejected()).toEqual([{ type: 'computer-info', seen: 1 }]);
  });
});

describe('AGENT-poison: messages the agent cannot get past', () => {
  it('are dropped after five responses that certainly arrived, and fail', async () => {
    const [poison, next] = [await anOperation(world.db, agent.id), await anOperation(world.db, agent.id)];
    for (let i = 0; i < 5; i++) {
      const response = await agent.send();
      expect(response.messages.map((m) => m['operation-id'])).toEqual([poison, next]);
      agent.token = response.token;
    }
    const after = await agent.exchange();
    expect(after.messages.map((m) => m['operation-id'])).toEqual([next]);
    expect(await messageStates(world.db, [poison, next])).toEqual(['dropped', 'sent']);
    expect((await inbox(world.db)).at(-1)).toMatchObject({ activity_id: poison, kind: 'result', ok: false });
    await agent.exchange([result(next)]);
    expect(await messageStates(world.db, [next])).toEqual(['acked']);
  });

  it('are not dropped when their result comes with the last try', async () => {
    const [late, next] = [await anOperation(world.db, agent.id), await anOperation(world.db, agent.id)];
    for (let i = 0; i < 5; i++) agent.token = (await agent.send()).token;
    const after = await agent.exchange([result(late)]);
    expect(after.messages.map((m) => m['operation-id'])).toEqual([next]);
    expect(await messageStates(world.db, [late, next])).toEqual(['acked', 'sent']);
    const results = (await inbox(world.db)).filter(
      ({ activity_id, kind }) => activity_id === late && kind === 'result',
    );
    expect(results).toMatchObject([{ ok: true }]);
  });

  it('are not taken for poison when responses were lost', async () => {
    const id = await anOperation(world.db, agent.id);
    for (let i = 0; i < 10; i++) await agent.send();
    expect((await agent.exchange()).messages.map((m) => m['operation-id'])).toEqual([id]);
  });
});
