import { Webhook as Verifier } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DAY_MS } from '../../../src/domain/common/durations.ts';
import { type DeliveryDeps, deliverWebhook } from '../../../src/services/events/webhook-delivery.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { untilComplete } from '../../support/events/complete-feed.ts';
import { type Received, startWebhookReceiver, type WebhookReceiver } from '../../support/events/webhook-receiver.ts';
import { TEST_KEYS } from '../../support/http/app.ts';

let world: FleetWorld;
let receiver: WebhookReceiver;
let deps: DeliveryDeps;

beforeAll(async () => {
  world = await createFleetWorld();
  deps = { db: world.db, clock: world.clock, encryptionKeys: TEST_KEYS, privateAddresses: true, timeoutMs: 1_000 };
});
afterAll(() => world?.close());
beforeEach(async () => {
  receiver = await startWebhookReceiver();
  // The tokens of the world end with its clock.
  token = await world.app.login();
});
afterEach(() => receiver.close());

let token: string;

async function call(method: string, path: string, body?: object) {
  const response = await world.app.call(method, path, { token, ...(body && { body }) });
  if (response.status >= 400) throw new Error(`${method} ${path}: ${response.text}`);
  return response.body;
}

async function createWebhook(content: object = {}) {
  const body = { url: receiver.url, types: ['computer.changed'], ...content };
  const { webhook, secret } = await call('POST', '/webhooks', body);
  return { id: webhook.id as number, secret: secret as string };
}

let edits = 0;
async function changeComputer(title: string): Promise<void> {
  edits += 1;
  await world.db.query('update computer set comment = $1 where id = $2', [`edit ${edits}`, world.ids[title]]);
}

/** The body, verified as at the time of the world: the library rejects old timestamps. */
function verify(secret: string, { body, headers }: Received): unknown {
  vi.useFakeTimers({ toFake: ['Date'], now: world.clock.now() });
  try {
    return new Verifier(secret).verify(body, headers as Record<string, string>);
  } finally {
    vi.useRealTimers();
  }
}

const step = async (id: number, over: Partial<DeliveryDeps> = {}) => {
  await untilComplete(world.db);
  return deliverWebhook({ ...deps, ...over }, id);
};
const show = (id: number) => call('GET', `/webhooks/${id}`);
const deliveries = async (id: number, query = '') => (await call('GET', `/webhooks/${id}/deliveries${query}`)).results;
const subjects = () => receiver.received.map(({ body }) => JSON.parse(body).subject);
const subjectOf = (title: string) => `computers/${world.ids[title]}`;

describe('the delivery of events', () => {
  it('sends each event once, signed, as the feed shows it', async () => {
    const { id, secret } = await createWebhook();
    const { cursor: start } = await call('GET', '/events?after=latest');
    await changeComputer('web');
    await changeComputer('desk');
    expect(await step(id)).toEqual({ state: 'active', more: false, waitMs: null });
    const { events } = await call('GET', `/events?after=${start}&types=computer.changed`);
    expect(events).toHaveLength(2);
    const bodies = receiver.received.map(({ body }) => body);
    expect(bodies.sort()).toEqual(events.map((event: object) => JSON.stringify(event)).sort());
    for (const received of receiver.received) {
      const { headers, body } = received;
      expect(verify(secret, received)).toEqual(JSON.parse(body));
      expect(headers).toMatchObject({
        'webhook-id': JSON.parse(body).id,
        'content-type': 'application/cloudevents+json; charset=utf-8',
        'user-agent': 'Flotilla',
      });
      expect(() => verify(secret, { ...received, body: `${body} ` })).toThrow('No matching signature');
    }
    await step(id);
    expect(receiver.received).toHaveLength(2);
    expect(await deliveries(id)).toEqual([
      expect.objectContaining({ event_id: events[1].id, status: 'delivered', attempts: 1, response_status: 204 }),
      expect.objectContaining({ event_id: events[0].id, status: 'delivered', attempts: 1, response_status: 204 }),
    ]);
  });

  it('sends what matches the types and the query, as far as its creator may see it', async () => {
    const { id } = await createWebhook({ query: 'title:web' });
    await changeComputer('desk');
    await changeComputer('web');
    await step(id);
    expect(subjects()).toEqual([subjectOf('web')]);
  });

  it('retries later, others meanwhile', async () => {
    const { id } = await createWebhook();
    receiver.reply = ({ body }) => ({ status: body.includes(`"${subjectOf('web')}"`) ? 500 : 200 });
    await changeComputer('web');
    await changeComputer('desk');
    const { waitMs } = await step(id);
    expect(waitMs).toBeGreaterThanOrEqual(5_000);
    expect(waitMs).toBeLessThanOrEqual(5_500);
    expect(subjects().sort()).toEqual([subjectOf('web'), subjectOf('desk')].sort());
    const [failed] = await deliveries(id, '?status=pending');
    expect(failed).toMatchObject({ attempts: 1, response_status: 500, error: 'the receiver responded with 500' });
    expect((await show(id)).failing_since).toBeNull();
    receiver.reply = () => ({ status: 200 });
    await step(id);
    expect(receiver.received).toHaveLength(2);
    world.clock.advance(5_500);
    expect(await step(id)).toMatchObject({ waitMs: null });
    expect(receiver.received[2]!.body).toBe(
      receiver.received.find(({ body }) => body.includes(subjectOf('web')))!.body,
    );
  });

  it('waits as long as the receiver requests', async () => {
    const { id } = await createWebhook();
    receiver.reply = () => ({ status: 503, headers: { 'retry-after': '3600' } });
    await changeComputer('web');
    expect((await step(id)).waitMs).toBe(3_600_000);
  });

  it('keeps the order on request, with nothing after a failure', async () => {
    const { id } = await createWebhook({ ordered: true });
    for (const title of ['web', 'desk', 'db']) await changeComputer(title);
    receiver.reply = ({ body }) => ({ status: body.includes(`"${subjectOf('desk')}"`) ? 500 : 200 });
    await step(id);
    expect(subjects()).toEqual([subjectOf('web'), subjectOf('desk')]);
    receiver.reply = () => ({ status: 200 });
    world.clock.advance(5_500);
    await step(id);
    expect(subjects()).toEqual(['web', 'desk', 'desk', 'db'].map(subjectOf));
  });

  it('repeats what was sent but not recorded, with the same id and bytes', async () => {
    const { id } = await createWebhook();
    await changeComputer('web');
    const killed = new Error('killed');
    let transactions = 0;
    // The first transaction takes events, the second records what was sent.
    const db = Object.assign(Object.create(world.db), {
      transaction: (...work: Parameters<typeof world.db.transaction>) => {
        transactions += 1;
        return transactions === 2 ? Promise.reject(killed) : world.db.transaction(...work);
      },
    });
    await expect(step(id, { db })).rejects.toThrow(killed);
    expect(receiver.received).toHaveLength(1);
    await step(id);
    expect(receiver.received).toHaveLength(2);
    const [first, second] = receiver.received;
    expect(second!.body).toBe(first!.body);
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
  });

  it('replays a range byte by byte, and delivers again', async () => {
    const { id } = await createWebhook();
    const { cursor: start } = await call('GET', '/events?after=latest');
    for (const title of ['web', 'desk', 'db']) await changeComputer(title);
    await step(id);
    const sent = receiver.received.map(({ body }) => body).sort();
    expect(sent).toHaveLength(3);
    receiver.received.length = 0;
    await call('POST', `/webhooks/${id}:replay`, { after: start });
    await step(id);
    expect(receiver.received.map(({ body }) => body).sort()).toEqual(sent);
    receiver.received.length = 0;
    const { events } = await call('GET', `/events?after=${start}&types=computer.changed`);
    await call('POST', `/webhooks/${id}:replay`, { after: events[0].id, before: events[2].id });
    await step(id);
    expect(receiver.received.map(({ body }) => JSON.parse(body).id)).toEqual([events[1].id]);
    const [delivery] = await deliveries(id);
    receiver.received.length = 0;
    expect(await call('POST', `/webhooks/${id}:redeliver`, { delivery_ids: [delivery.id] })).toEqual({
      redelivered: 1,
    });
    await step(id);
    expect(receiver.received.map(({ body }) => JSON.parse(body).id)).toEqual([events[1].id]);
  });

  it('signs with both secrets for a day after a change of the secret', async () => {
    const { id, secret } = await createWebhook();
    const { secret: next } = await call('POST', `/webhooks/${id}:rotate-secret`);
    await changeComputer('web');
    await step(id);
    expect(verify(secret, receiver.received[0]!)).toEqual(verify(next, receiver.received[0]!));
    expect(receiver.received[0]!.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
    await world.db.query(`update webhook set previous_until = $1 where id = $2`, [world.clock.now(), id]);
    await changeComputer('web');
    await step(id);
    expect(receiver.received[1]!.headers['webhook-signature']).toMatch(/^v1,\S+$/);
    expect(() => verify(secret, receiver.received[1]!)).toThrow('No matching signature');
  });

  it('ends at 410, and goes on when it is resumed', async () => {
    const { id } = await createWebhook();
    receiver.reply = () => ({ status: 410 });
    await changeComputer('web');
    expect(await step(id)).toEqual({ state: 'ended', more: false, waitMs: null });
    expect(await show(id)).toMatchObject({ status: 'ended', reason: expect.stringContaining('410') });
    await step(id);
    expect(receiver.received).toHaveLength(1);
    receiver.reply = () => ({ status: 200 });
    expect(await call('PATCH', `/webhooks/${id}`, { status: 'active' })).toMatchObject({
      status: 'active',
      reason: null,
    });
    await step(id);
    expect(receiver.received).toHaveLength(2);
  });

  it('pauses after five days of failure with an alert, which resuming resolves', async () => {
    const { id } = await createWebhook();
    const alert = async () =>
      (await call('GET', '/alerts')).find(({ scope }: { scope: string }) => scope === 'webhook').status;
    receiver.reply = () => ({ status: 500 });
    await changeComputer('web');
    let attempts = 0;
    let state = 'active';
    const start = world.clock.now().getTime();
    const { cursor } = await call('GET', '/events?after=latest');
    expect(await alert()).toBe('inactive');
    while (state === 'active') {
      const result = await step(id);
      attempts += 1;
      state = result.state;
      world.clock.advance(result.waitMs ?? 0);
    }
    token = await world.app.login();
    expect(state).toBe('paused');
    expect(attempts).toBeGreaterThan(9);
    expect(world.clock.now().getTime() - start).toBeGreaterThanOrEqual(5 * DAY_MS);
    expect(await alert()).toBe('active');
    expect(await show(id)).toMatchObject({ status: 'paused', reason: expect.stringContaining('five days') });
    await call('PATCH', `/webhooks/${id}`, { status: 'active' });
    expect(await alert()).toBe('inactive');
    await untilComplete(world.db);
    const { events } = await call('GET', `/events?after=${cursor}&types=alert.raised,alert.resolved`);
    expect(events.map(({ type, data }: { type: string; data: object }) => [type, data])).toEqual([
      ['alert.raised', { alert_type: 'WebhookPausedAlert', webhook_id: id }],
      ['alert.resolved', { alert_type: 'WebhookPausedAlert', webhook_id: id }],
    ]);
  });

  it('pauses when its creator is no longer an administrator', async () => {
    const { id } = await createWebhook();
    await world.db.query('update webhook set creator_id = 0 where id = $1', [id]);
    await changeComputer('web');
    expect((await step(id)).state).toBe('paused');
    expect(receiver.received).toEqual([]);
  });

  it('sends a test whatever is selected, and follows redirects', async () => {
    const { id, secret } = await createWebhook({ types: ['profile.run'] });
    receiver.reply = ({ path }) =>
      path === '/hook' ? { status: 307, headers: { location: '/elsewhere' } } : { status: 200 };
    const delivery = await call('POST', `/webhooks/${id}:test`);
    expect(delivery).toMatchObject({ event_type: 'webhook.test', status: 'pending', attempts: 0 });
    await step(id);
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook', '/elsewhere']);
    expect(verify(secret, receiver.received[1]!)).toMatchObject({
      id: delivery.event_id,
      type: 'webhook.test',
      data: { webhook_id: id },
    });
    receiver.reply = () => ({ status: 308, headers: { location: '/again' } });
    await call('POST', `/webhooks/${id}:test`);
    await step(id);
    expect((await deliveries(id))[0].error).toBe('there were more than 3 redirects');
  });

  it('fails a delivery whose event was deleted', async () => {
    const { id } = await createWebhook();
    receiver.reply = () => ({ status: 500 });
    await changeComputer('web');
    await step(id);
    await world.db.query('delete from cloud_event');
    world.clock.advance(6_000);
    expect(await step(id)).toMatchObject({ state: 'active', waitMs: null });
    expect((await deliveries(id))[0]).toMatchObject({ status: 'failed', error: expect.stringContaining('deleted') });
  });

  it('never connects to a private address that a name has', async () => {
    const { id } = await createWebhook();
    await call('POST', `/webhooks/${id}:test`);
    await step(id, { privateAddresses: false });
    expect(receiver.received).toEqual([]);
    expect((await deliveries(id))[0]).toMatchObject({ status: 'pending', error: 'the address is private' });
  });
});
