import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anAccount, createGatewayWorld, type GatewayWorld } from '../../support/agents/gateway-world.ts';
import { RawAgent } from '../../support/agents/raw-agent.ts';

let world: GatewayWorld;

beforeAll(async () => {
  world = await createGatewayWorld();
});
afterAll(() => world?.close());

function families(accountId: number): Promise<Array<{ id: number; parent_id: number | null; is_wsl: boolean }>> {
  return world.db.query('select id, parent_id, is_wsl, is_default_child from computer where account_id = $1', [
    accountId,
  ]);
}

describe('Windows hosts and their instances', () => {
  const instance = (name: string) => ({ computer_title: name, 'container-info': 'wsl', hostagent_uid: 'uid-1' });

  it('find each other whichever enrols first', async () => {
    const account = await anAccount(world.db);
    const early = await RawAgent.enrol(world, account, instance('early'));
    const host = await RawAgent.enrol(world, account, { computer_title: 'host', hostagent_uid: 'uid-1' });
    const late = await RawAgent.enrol(world, account, instance('late'));
    const outsider = await RawAgent.enrol(world, account, { ...instance('stranger'), hostagent_uid: 'uid-2' });
    const byId = new Map((await families(account.id)).map((row) => [row.id, row]));
    expect(byId.get(early.id)).toMatchObject({ parent_id: host.id, is_wsl: true, is_default_child: true });
    expect(byId.get(late.id)).toMatchObject({ parent_id: host.id, is_wsl: true, is_default_child: false });
    expect(byId.get(host.id)).toMatchObject({ parent_id: null, is_wsl: false, is_default_child: null });
    expect(byId.get(outsider.id)).toMatchObject({ parent_id: null, is_wsl: true });
  });
});
