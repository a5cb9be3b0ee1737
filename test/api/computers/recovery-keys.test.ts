import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encryptSecret, recoveryKeyContext } from '../../../src/services/common/secret-box.ts';
import { rotateRecoveryKeys } from '../../../src/services/computers/recovery-key-rotation.ts';
import { addEvent, childrenOf } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { insist, TEST_KEYS } from '../../support/http/app.ts';

const KEY = '10475-22871-30996-41204-50318-61177-07842-18853';
let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const path = (computer: number | string | undefined) => `/computers/${computer}/recovery-key`;
const read = (computer: number | undefined, token = world.tokens.admin) =>
  world.app.call('GET', path(computer), { token });
const generate = (computer: number | undefined, options: { query?: string; body?: unknown; token?: string } = {}) =>
  world.app.call('POST', `${path(computer)}:generate${options.query ?? ''}`, {
    token: options.token ?? world.tokens.admin,
    body: options.body,
  });

async function anEncrypted(title = 'laptop', types = ['fde-recovery-key', 'shutdown']): Promise<number> {
  const id = await insertComputer(world.db, { accountId: world.accountId, title });
  await world.db.query('insert into computer_inventory (computer_id, client_types) values ($1, $2)', [id, types]);
  return id;
}

async function storeKey(computer: number, key: string, keys = TEST_KEYS): Promise<void> {
  const { keyId, ciphertext: encrypted } = encryptSecret(keys, key, recoveryKeyContext(computer));
  await world.db.query(
    `insert into computer_recovery_key values ($1, 1, $2, $3, now())
     on conflict (computer_id) do update set key_id = excluded.key_id, sealed = excluded.sealed`,
    [computer, keyId, encrypted],
  );
}

async function end(group: number, ok: boolean): Promise<void> {
  const [child] = await childrenOf(world.db, group);
  const result = { batch: child!.lane_id, activity: child!.id, kind: 'result' as const, ok, at: world.clock.now() };
  await addEvent(world.db, { ...result, body: ok ? 'made' : 'the TPM refused' });
  await world.processEvents();
}

const events = async () =>
  (await world.app.call('GET', '/events?days=1', { token: world.tokens.admin })).body.results as Array<{
    message: string;
    entity_id: number;
  }>;
const openGenerations = (computer: number) =>
  world.db.query(
    `select id from activity where computer_id = $1 and type = 'GenerateFDERecoveryKeyRequest'
       and status not in ('succeeded', 'failed', 'canceled')`,
    [computer],
  );

describe('GET recovery-key', () => {
  it('shows two nulls while there is nothing, whatever the computer can', async () => {
    for (const id of [await anEncrypted(), world.ids['web'], world.ids['archived']]) {
      const { status, body } = await read(id);
      expect({ status, body }).toEqual({ status: 200, body: { activity: null, fde_recovery_key: null } });
    }
  });

  it('shows the key, and leaves an event that does not hold it', async () => {
    const id = await anEncrypted('encrypted');
    await storeKey(id, KEY);
    const response = await read(id);
    expect(response.body).toEqual({ activity: null, fde_recovery_key: KEY });
    expect(response.headers.get('cache-control')).toContain('no-store');
    const log = await events();
    expect(log[0]).toMatchObject({ entity_id: id, message: 'Read the recovery key of the computer encrypted' });
    expect(JSON.stringify(log)).not.toContain(KEY);
  });

  it('records the reason that is given, and shows nothing for one that is no line', async () => {
    const id = await anEncrypted('asked for');
    await storeKey(id, KEY);
    const readFor = (reason: string) =>
      world.app.call('GET', `${path(id)}?reason=${encodeURIComponent(reason)}`, { token: world.tokens.admin });
    expect((await readFor(' Ticket 4711: lost PIN ')).body.fde_recovery_key).toBe(KEY);
    const log = await events();
    expect(log[0]!.message).toBe('Read the recovery key of the computer asked for: Ticket 4711: lost PIN');
    for (const reason of ['', ' ', 'two\nlines', 'x'.repeat(256)]) {
      const { status, text, body } = await readFor(reason);
      expect({ status, error: body.error }).toEqual({ status: 400, error: 'InvalidParameter' });
      expect(text).not.toContain(KEY);
    }
    expect(await events()).toHaveLength(log.length);
  });

  it('gives no response without its event', async () => {
    const id = await anEncrypted();
    await storeKey(id, KEY);
    await world.db.query(`alter table event add constraint none_now check (false) not valid`);
    const response = await read(id);
    await world.db.query('alter table event drop constraint none_now');
    expect(response.status).toBe(500);
    expect(response.text).not.toContain(KEY);
  });

  it('shows the latest generation until it has succeeded', async () => {
    const id = await anEncrypted();
    const first = (await generate(id)).body;
    expect(first).toMatchObject({ type: 'ActivityGroup', summary: `Generate FDE recovery key for computer ${id}` });
    expect((await read(id)).body.activity).toMatchObject({ id: first.id, activity_status: 'undelivered' });
    await world.processEvents();
    await end(first.id, false);
    expect((await read(id)).body.activity).toMatchObject({ id: first.id, activity_status: 'failed' });
    const second = (await generate(id)).body;
    await world.processEvents();
    await end(second.id, true);
    expect((await read(id)).body.activity).toBeNull();
  });

  it('shows a generation that waits for room in the queue as waiting', async () => {
    const id = await anEncrypted();
    await world.db.query('update account set max_message_backlog = 0 where id = $1', [world.accountId]);
    await generate(id);
    await world.processEvents();
    expect((await read(id)).body.activity).toMatchObject({ activity_status: 'waiting' });
    await world.db.query('update account set max_message_backlog = null where id = $1', [world.accountId]);
  });

  it('returns 503 when the encryption key is not configured any more', async () => {
    const id = await anEncrypted();
    await storeKey(id, KEY, [{ id: 'lost', key: randomBytes(32) }]);
    const before = (await events()).length;
    const response = await read(id);
    expect(response).toMatchObject({ status: 503, body: { error: 'ServiceUnavailable' } });
    expect(response.headers.get('retry-after')).toBe('60');
    expect(await events()).toHaveLength(before);
  });
});

describe('POST recovery-key:generate', () => {
  it('creates one operation for the agent, and an event', async () => {
    const id = await anEncrypted('encrypted');
    const { status, body } = await generate(id, { body: {} });
    expect(status).toBe(200);
    expect(body).toMatchObject({ activity_status: 'undelivered', parent_id: null, creator: { id: world.adminId } });
    const [child] = (await world.app.call('GET', `/activities/${body.id}`, { token: world.tokens.admin })).body
      .children;
    expect(child).toMatchObject({ type: 'GenerateFDERecoveryKeyRequest' });
    const [payload] = await world.db.query(
      `select p.message_type, p.fields from activity a join operation_payload p on p.id = a.payload_id where a.id = $1`,
      [child.id],
    );
    expect(payload).toEqual({ message_type: 'fde-recovery-key', fields: { action: 'generate' } });
    expect((await events())[0]!.message).toBe('Requested a new recovery key from the computer encrypted');
  });

  it('FDE-race: 50 at once make one generation', async () => {
    const id = await anEncrypted();
    const responses = await Promise.all(Array.from({ length: 50 }, () => insist(() => generate(id))));
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array(49).fill(409)]);
    expect(responses.find(({ status }) => status === 409)!.body.error).toBe('ActivityInProgress');
    expect(await openGenerations(id)).toHaveLength(1);
  });

  it.each([
    ['in the query', { query: '?force=true' }],
    ['in the query, in another form', { query: '?force=1' }],
    ['in the body', { body: { force: true } }],
    ['in the body, against the query', { query: '?force=false', body: { force: true } }],
  ])('FDE-race: force %s makes another', async (_, options) => {
    const id = await anEncrypted();
    await generate(id);
    expect((await generate(id)).status).toBe(409);
    expect((await generate(id, { query: '?force=false' })).status).toBe(409);
    expect((await generate(id, { query: '?force=true', body: { force: false } })).status).toBe(409);
    expect((await generate(id, options)).status).toBe(200);
    expect(await openGenerations(id)).toHaveLength(2);
  });

  it('makes the next one once the last has ended, canceled too', async () => {
    const id = await anEncrypted();
    const { body } = await generate(id);
    const token = world.tokens.admin;
    await world.app.call('POST', '/activities/cancel', { token, body: { activity_ids: [body.id] } });
    await world.processEvents();
    expect((await generate(id)).status).toBe(200);
  });

  const rejections: Array<[string, () => unknown, number, string]> = [
    ['a computer without a plug-in', () => anEncrypted('plain', ['shutdown']), 400, 'FdeNotSupported'],
    ['a computer that has reported nothing', () => world.ids['web'], 400, 'FdeNotSupported'],
    ['an archived one', () => world.ids['archived'], 400, 'ComputerArchived'],
    ['a pending one', () => world.ids['pending'], 404, 'UnknownComputer'],
    ['a foreign one', () => world.ids['foreign'], 404, 'UnknownComputer'],
    ['none', () => 999_999_999, 404, 'UnknownComputer'],
  ];
  it.each(rejections)('rejects %s', async (_, which, status, error) => {
    expect(await generate((await which()) as number)).toMatchObject({ status, body: { error } });
  });

  it.each(['?force=maybe', '?force=2'])('rejects %s', async (query) => {
    const id = await anEncrypted();
    expect(await generate(id, { query })).toMatchObject({ status: 400, body: { error: 'InvalidParameter' } });
    expect(await generate(id, { body: { force: 'yes' } })).toMatchObject({ status: 400 });
    expect(await openGenerations(id)).toEqual([]);
  });
});

describe('rights', () => {
  it.each(['auditor', 'servers', 'mixed'] as const)('SECRET-leak: %s gets neither key nor generation', async (who) => {
    const id = await anEncrypted();
    await storeKey(id, KEY);
    const before = (await events()).length;
    for (const response of [await read(id, world.tokens[who]), await generate(id, { token: world.tokens[who] })]) {
      expect(response).toMatchObject({ status: 403, body: { error: 'Forbidden' } });
      expect(response.text).not.toContain(KEY);
    }
    expect(await events()).toHaveLength(before);
  });

  it('SECRET-leak: another account learns nothing, not even that the computer is there', async () => {
    const id = await anEncrypted();
    await storeKey(id, KEY);
    const token = world.tokens.foreign;
    const none = await read(999_999_999, token);
    const foreign = await read(id, token);
    expect(foreign.status).toBe(404);
    expect(foreign.text.replaceAll(String(id), '999999999')).toBe(none.text);
  });

  it('SECRET-leak: no list, detail or event shows the key', async () => {
    const id = await anEncrypted();
    await storeKey(id, KEY);
    await read(id);
    for (const route of ['/activities', '/activities/parents', '/computers', `/computers/${id}`, '/events?days=1']) {
      const response = await world.app.call('GET', route, { token: world.tokens.admin });
      expect(response.status).toBe(200);
      expect(response.text).not.toContain(KEY);
    }
  });
});

describe('keys at rest', () => {
  it('go with their computer', async () => {
    const id = await anEncrypted();
    await storeKey(id, KEY);
    await world.db.query('delete from computer where id = $1', [id]);
    expect(await world.db.query('select from computer_recovery_key where computer_id = $1', [id])).toEqual([]);
  });

  it('are encrypted again with the first encryption key, unless their own is lost', async () => {
    const fresh = [{ id: 'fresh', key: randomBytes(32) }];
    const ids = await Promise.all([anEncrypted(), anEncrypted()]);
    for (const id of ids) await storeKey(id, `${KEY}-${id}`);
    const lost = await anEncrypted();
    await storeKey(lost, KEY, [{ id: 'lost', key: randomBytes(32) }]);
    const first = await Promise.all([
      rotateRecoveryKeys(world.db, [...fresh, ...TEST_KEYS]),
      rotateRecoveryKeys(world.db, [...fresh, ...TEST_KEYS]),
    ]);
    expect(first.reduce((sum, { rotated }) => sum + rotated, 0)).toBeGreaterThanOrEqual(2);
    const again = await rotateRecoveryKeys(world.db, [...fresh, ...TEST_KEYS]);
    expect(again.rotated).toBe(0);
    expect(again.unreadable).toBeGreaterThanOrEqual(1);
    const rows = await world.db.query('select key_id from computer_recovery_key where computer_id = any($1)', [ids]);
    expect(rows).toEqual([{ key_id: 'fresh' }, { key_id: 'fresh' }]);
    await rotateRecoveryKeys(world.db, [...TEST_KEYS, ...fresh]);
    for (const id of ids) expect((await read(id)).body.fde_recovery_key).toBe(`${KEY}-${id}`);
    expect(await rotateRecoveryKeys(world.db, [])).toEqual({ rotated: 0, unreadable: 0 });
  });
});
