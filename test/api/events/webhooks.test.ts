import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rotateWebhookKeys } from '../../../src/services/events/webhook-secrets.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { TEST_KEYS } from '../../support/http/app.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const call = (method: string, path: string, body?: object, token = world.tokens.admin) =>
  world.app.call(method, path, { token, ...(body && { body }) });
const URL = 'https://receiver.example/hooks?token=hidden';
const create = async (body: object = {}) => (await call('POST', '/webhooks', { url: URL, ...body })).body;
const idOf = async () => (await create()).webhook.id as number;
const count = async () => (await call('GET', '/webhooks?limit=0')).body.count;

describe('webhooks', () => {
  it('are created with a secret that is shown once', async () => {
    const { status, body } = await call('POST', '/webhooks', { url: URL, types: ['activity.ended'], query: 'tag:lab' });
    expect(status).toBe(201);
    expect(body).toEqual({
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      webhook: {
        id: expect.any(Number),
        url: URL,
        types: ['activity.ended'],
        query: 'tag:lab',
        ordered: false,
        status: 'active',
        reason: null,
        creator_id: world.adminId,
        creation_time: expect.any(String),
        failing_since: null,
        cursor: expect.stringMatching(/^\d+-0$/),
      },
    });
    expect((await call('GET', `/webhooks/${body.webhook.id}`)).body).toEqual(body.webhook);
    const { results } = (await call('GET', '/webhooks?limit=1')).body;
    expect(results).toEqual([body.webhook]);
    const stored = await world.db.query('select * from webhook');
    expect(JSON.stringify(stored)).not.toContain(body.secret);
  });

  it.each([
    ['http://127.0.0.1/', 'private'],
    ['http://[::1]:8080/', 'private'],
    ['http://169.254.169.254/latest/meta-data', 'private'],
    ['http://0x7f000001/', 'private'],
    ['ftp://receiver.example/', 'https or http'],
    ['https://user:secret@receiver.example/', 'user information'],
    ['https://receiver.example/#here', 'fragment'],
    ['receiver.example', 'https or http'],
  ])('are not created for %s', async (url, message) => {
    const before = await count();
    const { status, body } = await call('POST', '/webhooks', { url });
    expect([status, body.error]).toEqual([400, 'InvalidParameter']);
    expect(body.message).toContain(message);
    expect(await count()).toBe(before);
  });

  it('are not created with bad types, query or order', async () => {
    for (const [part, error] of [
      [{ types: ['no.such'] }, 'InvalidParameter'],
      [{ types: [] }, 'InvalidParameter'],
      [{ query: 'tag:' }, 'InvalidQueryError'],
      [{ query: 'search:none' }, 'InvalidQueryError'],
      [{ ordered: 'yes' }, 'InvalidParameter'],
    ] as const) {
      const { status, body } = await call('POST', '/webhooks', { url: URL, ...part });
      expect([status, body.error, part]).toEqual([400, error, part]);
    }
  });

  it('are changed, paused and resumed', async () => {
    const id = await idOf();
    const change = { url: 'https://other.example/', types: null, query: 'web', ordered: true };
    expect((await call('PATCH', `/webhooks/${id}`, change)).body).toMatchObject(change);
    expect((await call('PATCH', `/webhooks/${id}`, { status: 'paused' })).body).toMatchObject({
      ...change,
      status: 'paused',
      reason: 'An administrator has paused it',
    });
    expect((await call('PATCH', `/webhooks/${id}`, { status: 'active' })).body).toMatchObject({
      ...change,
      status: 'active',
      reason: null,
    });
    const bad = await call('PATCH', `/webhooks/${id}`, { url: 'http://10.0.0.1/', ordered: false });
    expect(bad.status).toBe(400);
    expect((await call('GET', `/webhooks/${id}`)).body).toMatchObject(change);
  });

  it('are removed', async () => {
    const id = await idOf();
    await call('POST', `/webhooks/${id}:test`);
    expect((await call('DELETE', `/webhooks/${id}`)).status).toBe(204);
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['DELETE', '', undefined],
      ['PATCH', '', {}],
      ['POST', ':test', undefined],
      ['POST', ':rotate-secret', undefined],
      ['GET', '/deliveries', undefined],
      ['POST', ':redeliver', { delivery_ids: [1] }],
      ['POST', ':replay', { after: 'oldest' }],
    ] as const) {
      const response = await call(method, `/webhooks/${id}${path}`, body);
      expect([method, path, response.status, response.body.error]).toEqual([method, path, 404, 'UnknownWebhook']);
    }
  });

  it('belong to their account and to those who manage it', async () => {
    const id = await idOf();
    expect((await call('GET', `/webhooks/${id}`, undefined, world.tokens.foreign)).status).toBe(404);
    expect((await call('DELETE', `/webhooks/${id}`, undefined, world.tokens.foreign)).status).toBe(404);
    expect((await call('GET', '/webhooks', undefined, world.tokens.foreign)).body.count).toBe(0);
    expect((await call('GET', '/webhooks', undefined, world.tokens.auditor)).status).toBe(403);
    expect((await call('POST', '/webhooks', { url: URL }, world.tokens.servers)).status).toBe(403);
  });

  it('can be a hundred per account', async () => {
    while ((await count()) < 100) await create();
    const { status, body } = await call('POST', '/webhooks', { url: URL });
    expect([status, body.error]).toEqual([400, 'WebhookLimitReached']);
    await world.db.query('delete from webhook');
  });

  it('list their deliveries, and only redeliver their own', async () => {
    const [id, other] = [await idOf(), await idOf()];
    const test = (await call('POST', `/webhooks/${id}:test`)).body;
    const foreign = (await call('POST', `/webhooks/${other}:test`)).body;
    expect((await call('GET', `/webhooks/${id}/deliveries`)).body).toMatchObject({ count: 1, results: [test] });
    expect((await call('GET', `/webhooks/${id}/deliveries?status=failed`)).body).toMatchObject({ count: 0 });
    const redeliver = (...delivery_ids: number[]) => call('POST', `/webhooks/${id}:redeliver`, { delivery_ids });
    expect((await redeliver(test.id)).body).toEqual({ redelivered: 0 });
    expect((await redeliver(test.id, foreign.id)).body.error).toBe('UnknownDelivery');
  });

  it('replay between cursors of the feed', async () => {
    const id = await idOf();
    const replay = (after: string, before?: string) => call('POST', `/webhooks/${id}:replay`, { after, before });
    expect((await replay('oldest')).body).toEqual({ after: '0-0', before: expect.stringMatching(/^\d+-0$/) });
    expect((await replay('nonsense')).body.error).toBe('InvalidParameter');
    expect((await replay('oldest', '9000000000000000-1')).body.error).toBe('InvalidParameter');
  });

  it('write the event log without secrets and queries of URLs', async () => {
    const { webhook, secret } = await create();
    await call('POST', `/webhooks/${webhook.id}:rotate-secret`);
    await call('PATCH', `/webhooks/${webhook.id}`, { ordered: true });
    const { results } = (await call('GET', '/events?limit=3')).body;
    expect(results.map(({ message }: { message: string }) => message)).toEqual([
      'Changed the order of the webhook to receiver.example',
      'Replaced the secret of the webhook to receiver.example',
      'Created a webhook to receiver.example',
    ]);
    expect(results[0]).toMatchObject({ entity_type: 'Webhook', entity_id: webhook.id });
    for (const text of ['hidden', secret]) expect(JSON.stringify(results)).not.toContain(text);
  });

  it('have their secrets re-encrypted with a new key', async () => {
    const id = await idOf();
    await call('POST', `/webhooks/${id}:rotate-secret`);
    const next = { id: 'next', key: Buffer.alloc(32, 8) };
    expect(await rotateWebhookKeys(world.db, [next, ...TEST_KEYS])).toBeGreaterThan(0);
    const keys = 'select distinct key_id, previous_key_id from webhook where id = $1';
    expect(await world.db.query(keys, [id])).toEqual([{ key_id: 'next', previous_key_id: 'next' }]);
    expect(await rotateWebhookKeys(world.db, [next, ...TEST_KEYS])).toBe(0);
  });
});
