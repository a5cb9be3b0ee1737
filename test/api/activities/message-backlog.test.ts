import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';

const PATH = '/message-backlog-settings';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const get = (token: string | null = world.tokens.admin) => world.app.call('GET', PATH, { token });
const put = (max_message_backlog: unknown, token: string | null = world.tokens.admin) =>
  world.app.call('PUT', PATH, { token, body: { max_message_backlog } });
const clear = (token: string | null = world.tokens.admin) => world.app.call('DELETE', PATH, { token });

function events() {
  return world.db.query(
    `select account_id, person_id, person_name, entity_type, message, address from event
     where entity_type = 'MessageBacklogSetting' order by id`,
  );
}

describe('message backlog settings', () => {
  it('are created, read, replaced and deleted', async () => {
    expect(await get()).toMatchObject({ status: 404, body: { error: 'NoMessageBacklogSetting', code: 404 } });
    expect(await clear()).toMatchObject({ status: 204, text: '' });
    expect(await put(5)).toMatchObject({ status: 200, body: { max_message_backlog: 5 } });
    expect(await put(0)).toMatchObject({ status: 200, body: { max_message_backlog: 0 } });
    expect(await get()).toMatchObject({ status: 200, body: { max_message_backlog: 0 } });
    expect(await put(2_147_483_647)).toMatchObject({ status: 200, body: { max_message_backlog: 2_147_483_647 } });
    expect(await clear()).toMatchObject({ status: 204, text: '' });
    expect((await get()).status).toBe(404);
  });

  it('leave a line in the event log for every change', async () => {
    const line = { account_id: world.accountId, person_id: world.adminId, person_name: 'Admin One' };
    const known = { ...line, entity_type: 'MessageBacklogSetting', address: expect.stringContaining('127.0.0.1') };
    expect(await events()).toEqual([
      { ...known, message: 'Set the message backlog limit to 5; there was none' },
      { ...known, message: 'Set the message backlog limit to 0; it was 5' },
      { ...known, message: 'Set the message backlog limit to 2147483647; it was 0' },
      { ...known, message: 'Removed the message backlog limit; it was 2147483647' },
    ]);
  });

  it.each([-1, 1.5, '5', null, true, [5], {}, 2_147_483_648, 1e300, undefined])(
    'reject %j and keep what is set',
    async (bad) => {
      await put(7);
      const before = await events();
      expect(await put(bad)).toMatchObject({ status: 400, body: { error: 'InvalidParameter' } });
      expect((await get()).body).toEqual({ max_message_backlog: 7 });
      expect(await events()).toEqual(before);
    },
  );

  it('MASS-assign: touch nothing else of the account, and no other account', async () => {
    const raw = '{"max_message_backlog":4,"account_id":2,"id":2,"disabled":true,"__proto__":{"max_message_backlog":9}}';
    expect((await world.app.call('PUT', PATH, { token: world.tokens.admin, raw })).status).toBe(400);
    expect((await put(3)).status).toBe(200);
    expect((await get(world.tokens.foreign)).status).toBe(404);
    const rows = await world.db.query('select disabled, max_message_backlog as bound from account order by id');
    expect(rows).toEqual([
      { disabled: false, bound: 3 },
      { disabled: false, bound: null },
    ]);
  });

  it('ROLE-matrix: are read by every administrator and changed by those who manage the account', async () => {
    await put(4);
    for (const token of [world.tokens.auditor, world.tokens.servers, world.tokens.mixed]) {
      expect(await get(token)).toMatchObject({ status: 200, body: { max_message_backlog: 4 } });
      expect(await put(1, token)).toMatchObject({ status: 403, body: { error: 'Forbidden' } });
      expect(await clear(token)).toMatchObject({ status: 403, body: { error: 'Forbidden' } });
    }
    for (const call of [get(null), put(1, null), clear(null)]) {
      expect(await call).toMatchObject({ status: 401, body: { error: 'Unauthorized' } });
    }
    expect((await get()).body).toEqual({ max_message_backlog: 4 });
  });
});
