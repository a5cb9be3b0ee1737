import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { purgeExpiredEvents } from '../../../src/persistence/events/events.sql.ts';
import { ADMIN } from '../../support/http/app.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const list = (query = '', token: string | null = world.tokens.admin) =>
  world.app.call('GET', `/events${query}`, { token });

/** Lines as if they had been written some days ago. */
async function insert(messages: readonly string[], options: { daysAgo?: number; accountId?: number } = {}) {
  await world.db.query(
    `insert into event (account_id, creation_time, person_id, person_name, entity_type, entity_id, entity_name, message,
       address, request_id)
     select $1, now() - make_interval(days => $2) - interval '1 minute', 1, 'Test Person', 'Computer', 7, 'web', m, '::1', 'r'
     from unnest($3::text[]) with ordinality as t(m, place) order by place`,
    [options.accountId ?? world.accountId, options.daysAgo ?? 0, messages],
  );
}

const messagesOf = ({ body }: { body: { results: Array<{ message: string }> } }) =>
  body.results.map(({ message }) => message);

describe('the event log', () => {
  it('shows who requested what, when and from where', async () => {
    const response = await world.app.call('POST', '/snaps', {
      token: world.tokens.servers,
      headers: { 'x-request-id': 'events-1' },
      body: {
        action: 'install',
        computer_ids: [world.ids['web'], world.ids['db'], world.ids['web']],
        snaps: [{ name: 'hello' }, { name: 'jq' }],
      },
    });
    const { body } = await list();
    expect(body.results[0]).toEqual({
      id: expect.any(Number),
      creation_time: expect.stringMatching(/Z$/),
      entity_type: 'Activity',
      entity_id: response.body.id,
      entity_name: 'Install snaps on computer',
      message: 'Install snaps hello, jq on 2 computers',
      person_id: expect.any(Number),
      person_name: 'Member',
      address: expect.stringContaining('127.0.0.1'),
      request_id: 'events-1',
    });
    const [person] = await world.db.query('select email from person where id = $1', [body.results[0].person_id]);
    expect(person).toEqual({ email: 'servers@fleet.example' });
  });

  it('reports every canceled activity, in the order they were made', async () => {
    const removal = { action: 'remove', computer_ids: [world.ids['web']], snaps: [{ name: 'hello' }] };
    const groups: number[] = [];
    for (let i = 0; i < 2; i++) {
      groups.push((await world.app.call('POST', '/snaps', { token: world.tokens.admin, body: removal })).body.id);
    }
    const body = { activity_ids: groups.toReversed() };
    expect((await world.app.call('POST', '/activities/cancel', { token: world.tokens.admin, body })).status).toBe(200);
    const { results } = (await list('?limit=2')).body;
    expect(results.map((event: { entity_id: number }) => event.entity_id)).toEqual(groups.toReversed());
    expect(results[0].message).toBe('Canceled the activity "Remove snaps on computer"');
  });

  it('has no line of what was rejected', async () => {
    const { count } = (await list()).body;
    const token = world.tokens.servers;
    const snaps = { action: 'install', snaps: [{ name: 'hello' }] };
    const rejected = [
      await world.app.call('POST', '/snaps', { token, body: { ...snaps, computer_ids: [world.ids['foreign']] } }),
      await world.app.call('POST', '/snaps', { token, body: { ...snaps, computer_ids: [world.ids['web'], 999_999] } }),
      await world.app.call('POST', '/activities/cancel', { token, body: { activity_ids: [999_999] } }),
      await world.app.call('PUT', '/message-backlog-settings', { token, body: { max_message_backlog: 1 } }),
    ];
    expect(rejected.map(({ status }) => status)).toEqual([404, 404, 404, 403]);
    expect((await list()).body.count).toBe(count);
  });

  it('is read by those who may, and shows the lines of their account alone', async () => {
    await insert(['of another account'], { accountId: world.accountId + 1 });
    expect(messagesOf(await list('?search=another', world.tokens.foreign))).toEqual(['of another account']);
    expect(messagesOf(await list('?search=another'))).toEqual([]);
    expect((await list('', world.tokens.auditor)).status).toBe(200);
    expect(await list('', world.tokens.servers)).toMatchObject({ status: 403, body: { error: 'Forbidden' } });
    expect(await list('', null)).toMatchObject({ status: 401 });
  });

  it('has every login and every failed one, in the log of the account it was for', async () => {
    const login = (body: object) => world.app.call('POST', '/login', { body });
    const email = 'auditor@fleet.example';
    await login({ email, password: 'correct horse' });
    await login({ email, password: 'wrong horse' });
    await login({ email, password: 'wrong horse', account: 'other' });
    await login({ email: 'nobody@fleet.example', password: 'wrong horse' });
    await login({ email: 'other@fleet.example', password: 'wrong horse' });
    const person = { entity_type: 'Person', entity_name: 'Member', address: expect.stringContaining('127.0.0.1') };
    const unknown = { person_id: null, person_name: 'unknown' };
    const { results } = (await list('?limit=3')).body;
    expect(results).toMatchObject([
      { ...person, ...unknown, message: 'A login with a password failed' },
      { ...person, ...unknown, message: 'A login with a password failed' },
      { ...person, person_id: results[2].entity_id, person_name: 'Member', message: 'Logged in with a password' },
    ]);
    const [foreign] = (await list('?limit=1', world.tokens.foreign)).body.results;
    expect(foreign).toMatchObject({ ...unknown, entity_name: 'Administrator of other' });
  });

  it('SECRET-leak: holds no password, token, key or secret', async () => {
    const token = await world.app.login();
    const made = await world.app.call('POST', '/credentials', {
      token,
      body: { account: 'standalone', password: ADMIN.password },
    });
    const { access_key, secret_key } = made.body;
    const byKey = (secret: string) =>
      world.app.call('POST', '/login/access-key', { body: { access_key, secret_key: secret } });
    expect((await byKey(secret_key)).status).toBe(200);
    expect((await byKey('W'.repeat(40))).status).toBe(401);
    await world.app.call('POST', '/login', { body: { email: 'correct horse', password: ADMIN.email } });
    expect(messagesOf(await list('?limit=2'))).toEqual([
      'A login with an access key failed',
      'Logged in with an access key',
    ]);
    const log = JSON.stringify(await world.db.query('select * from event'));
    for (const secret of [ADMIN.password, 'wrong horse', token, token.split('.')[2], secret_key, access_key, 'WWWW']) {
      expect(log).not.toContain(secret);
    }
  });

  it('can be neither changed nor shortened', async () => {
    for (const change of [`update event set message = 'x'`, 'delete from event', 'truncate event']) {
      await expect(world.db.query(change)).rejects.toThrow('append-only');
    }
  });

  it('lets old lines go by its own function alone, a few at a time', async () => {
    const count = async () => (await world.db.query<{ n: number }>('select count(*)::int as n from event'))[0]!.n;
    const recent = await count();
    await world.db.query(
      `insert into event (id, account_id, creation_time, person_name, entity_type, entity_name, message, address, request_id)
       select -n, $1, now() - make_interval(days => 10), 'P', 'Computer', 'web', 'old', '::1', 'r' from generate_series(1, 5) n`,
      [world.accountId],
    );
    await expect(world.db.query('delete from event where id < 0')).rejects.toThrow('append-only');
    expect(await purgeExpiredEvents(world.db, 11, 100)).toBe(0);
    expect(await purgeExpiredEvents(world.db, 9, 2)).toBe(2);
    expect(await purgeExpiredEvents(world.db, 9, 100)).toBe(3);
    expect(await purgeExpiredEvents(world.db, 0, 100)).toBe(0);
    expect(await count()).toBe(recent);
    const marked = world.db.transaction(async (tx) => {
      await tx.query(`set local flotilla.forgets_events = 'on'`);
      await tx.query('delete from event');
    });
    await expect(marked).rejects.toThrow('append-only');
    await expect(world.db.query('delete from event')).rejects.toThrow('append-only');
  });
});

describe('GET /events', () => {
  it('walks all lines, newest first, with links that keep the filter', async () => {
    await insert(['walk 1', 'walk 2', 'walk 3', 'walk 4', 'walk 5']);
    const first = await list('?search=WALK&days=2&limit=2');
    expect(messagesOf(first)).toEqual(['walk 5', 'walk 4']);
    expect(first.body).toMatchObject({ count: 5, previous: null });
    const next = new URL(first.body.next);
    expect(Object.fromEntries(next.searchParams)).toEqual({ search: 'WALK', days: '2', limit: '2', offset: '2' });
    const second = await world.app.call('GET', next.pathname + next.search, { token: world.tokens.admin });
    expect(messagesOf(second)).toEqual(['walk 3', 'walk 2']);
    expect((await list('?search=walk&offset=50')).body).toMatchObject({ count: 5, results: [], next: null });
  });

  it('shows the last 30 days by default', async () => {
    await insert(['age 0']);
    await insert(['age 29'], { daysAgo: 29 });
    await insert(['age 31'], { daysAgo: 31 });
    expect(messagesOf(await list('?search=age%20'))).toEqual(['age 0', 'age 29']);
    expect(messagesOf(await list('?search=age%20&days=1'))).toEqual(['age 0']);
    const all = await list('?search=age%20&days=36500');
    expect(messagesOf(all)).toEqual(['age 0', 'age 29', 'age 31']);
    expect(all.body.count).toBe(3);
  });

  it('LIKE-wild: finds what is searched for literally, in any case', async () => {
    await insert(['100% of Straße', 'a_b', 'a\\b', 'axb']);
    expect(messagesOf(await list('?search=%25'))).toEqual(['100% of Straße']);
    expect(messagesOf(await list('?search=A_B'))).toEqual(['a_b']);
    expect(messagesOf(await list(`?search=${encodeURIComponent('a\\b')}`))).toEqual(['a\\b']);
    expect(messagesOf(await list(`?search=${encodeURIComponent('STRAße')}`))).toEqual(['100% of Straße']);
    expect(messagesOf(await list(`?search=${encodeURIComponent(`'; drop table event; --`)}`))).toEqual([]);
    expect(messagesOf(await list('?search=test%20person&limit=1'))).toEqual(['axb']);
  });

  it.each([
    'days=0',
    'days=-1',
    'days=1.5',
    'days=1e3',
    'days=36501',
    'days=99999999999999999999',
    'days=x',
    'days=',
    'days=1&days=2',
    `search=${'x'.repeat(256)}`,
    'search=%00',
    'offset=-1',
  ])('PAGE-bad: rejects %s', async (query) => {
    expect(await list(`?${query}`)).toMatchObject({ status: 400, body: { error: 'InvalidParameter' } });
  });
});
