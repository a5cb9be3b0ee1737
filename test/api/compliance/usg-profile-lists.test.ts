import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { usgProfile } from '../../support/compliance/usg.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const call = (method: string, path: string, body?: unknown, token = world.tokens.admin) =>
  world.app.call(method, path, { token, ...(body === undefined ? {} : { body }) });
const create = (over: object = {}, token?: string) => call('POST', '/usg-profiles', usgProfile(over), token);

describe('GET /usg-profiles', () => {
  it('filters, pages and keeps the order of creation', async () => {
    const made = [];
    for (const title of ['List one', 'LIST two', 'list three']) made.push((await create({ title })).body.id);
    const list = async (query: string) => (await call('GET', `/usg-profiles?${query}`)).body;
    const ids = (body: { results: Array<{ id: number }> }) => body.results.map(({ id }) => id);
    expect(ids(await list('search=LiSt'))).toEqual(made);
    const page = await list('search=list&limit=2');
    expect(page).toMatchObject({ count: 3, previous: null });
    expect(page.next).toContain('/usg-profiles?search=list&limit=2&offset=2');
    expect(ids(await list('search=list&limit=2&offset=2'))).toEqual([made[2]]);
    await call('POST', `/usg-profiles/${made[1]}:archive`);
    expect(ids(await list('search=list&status=archived'))).toEqual([made[1]]);
    expect(ids(await list('search=list&status=active'))).toEqual([made[0], made[2]]);
    expect(ids(await list('search=list&status=over-limit'))).toEqual([]);
    expect(ids(await list('search=%25'))).toEqual([]);
    expect(ids(await list('search=list&pass_rate_from=0'))).toEqual([]);
    await world.db.query(
      `with a as (insert into activity (account_id, type, summary, status) values ($1, 'UsgActivity', 's', 'succeeded') returning id)
       insert into usg_run (account_id, profile_id, activity_id, started_at, passing_count, failing_count)
       select $1, $2, id, now(), 1, 2 from a`,
      [world.accountId, made[2]],
    );
    expect(ids(await list('search=list&pass_rate_from=33&pass_rate_to=33'))).toEqual([made[2]]);
    expect(ids(await list('search=list&pass_rate_to=32'))).toEqual([]);
    expect(ids(await list('search=list&pass_rate_from=34'))).toEqual([]);
    expect((await list('search=list&limit=3')).results[2].last_run_results).toMatchObject({
      pass_rate: 33,
      failing: 2,
    });
  });

  it('finds by 100 who passes everywhere alone, and by 0 who passes nowhere', async () => {
    for (const [title, passing, failing] of [
      ['Rate all', 200, 0],
      ['Rate all but one', 199, 1],
      ['Rate one', 1, 199],
      ['Rate none', 0, 200],
    ] as const) {
      const { id } = (await create({ title })).body;
      await world.db.query(
        `with a as (insert into activity (account_id, type, summary, status) values ($1, 'UsgActivity', 's', 'succeeded') returning id)
         insert into usg_run (account_id, profile_id, activity_id, started_at, computer_count, passing_count, failing_count)
         select $1, $2, id, now(), 200, $3, $4 from a`,
        [world.accountId, id, passing, failing],
      );
    }
    const list = async (query: string) => (await call('GET', `/usg-profiles?search=rate&${query}`)).body.results;
    const rates = (await list('')).map((profile: { last_run_results: object }) => profile.last_run_results);
    expect(rates).toMatchObject([{ pass_rate: 100 }, { pass_rate: 99 }, { pass_rate: 1 }, { pass_rate: 0 }]);
    const titles = async (query: string) => (await list(query)).map(({ title }: { title: string }) => title);
    expect(await titles('pass_rate_from=100')).toEqual(['Rate all']);
    expect(await titles('pass_rate_from=99&pass_rate_to=99')).toEqual(['Rate all but one']);
    expect(await titles('pass_rate_to=0')).toEqual(['Rate none']);
    expect(await titles('pass_rate_from=1&pass_rate_to=1')).toEqual(['Rate one']);
  });

  it.each([
    'pass_rate_from=50&pass_rate_to=49',
    'pass_rate_from=-1',
    'pass_rate_to=101',
    'status=gone',
    'limit=0',
    'offset=-1',
  ])('rejects %s', async (query) => {
    expect((await call('GET', `/usg-profiles?${query}`)).body).toMatchObject({ error: 'InvalidParameter', code: 400 });
  });

  it('shows profiles of the groups that may be seen', async () => {
    const { body: servers } = await create({ access_group: 'servers', title: 'Seen by servers' });
    const { body: desktops } = await create({ access_group: 'desktops', title: 'Seen by desktops' });
    const seen = (await call('GET', '/usg-profiles?search=seen', undefined, world.tokens.servers)).body;
    expect(seen.results.map(({ id }: { id: number }) => id)).toEqual([servers.id]);
    expect((await call('GET', `/usg-profiles/${desktops.id}`, undefined, world.tokens.servers)).body.error).toBe(
      'UnknownUsgProfile',
    );
    const patched = await call('PATCH', `/usg-profiles/${desktops.id}`, { title: 'x' }, world.tokens.mixed);
    expect(patched.body).toMatchObject({ error: 'Forbidden', code: 403 });
  });
});

describe('computers', () => {
  it('are found by their profile, and show it', async () => {
    const { body: profile } = await create({ title: 'Of servers', access_group: 'servers' });
    const found = async (query: string) => {
      const { body } = await call('GET', `/computers?query=${query}`);
      return body.results.map(({ title }: { title: string }) => title);
    };
    expect(await found(`profile:usg:${profile.id}`)).toEqual(['web', 'db']);
    expect(await found(`profile:security:${profile.id} NOT web`)).toEqual(['db']);
    expect(await found('profile:usg:999999')).toEqual([]);
    const shown = { id: profile.id, name: 'of-servers', title: 'Of servers', type: 'usg' };
    const read = async (title: string) =>
      (await call('GET', `/computers/${world.ids[title]}?with_profiles=true`)).body.profiles;
    expect(await read('web')).toContainEqual(shown);
    expect(await read('desk')).not.toContainEqual(shown);
    await call('POST', `/usg-profiles/${profile.id}:archive`);
    expect(await read('web')).not.toContainEqual(shown);
    const foreign = await world.app.call('GET', `/computers?query=profile:usg:${profile.id}`, {
      token: world.tokens.foreign,
    });
    expect(foreign.body.results).toEqual([]);
  });
});

describe('/security-profiles', () => {
  it('serves the same with a Deprecation header', async () => {
    const { body: profile } = await create();
    const response = await call('GET', `/security-profiles/${profile.id}`);
    expect(response.body).toEqual(profile);
    expect(response.headers.get('deprecation')).toMatch(/^@\d+$/);
    const list = await call('GET', '/security-profiles?limit=1');
    expect(list.body.next).toContain('/api/v2/security-profiles?limit=1&offset=1');
    const archived = await call('POST', `/security-profiles/${profile.id}:archive`);
    expect(archived.body.status).toBe('archived');
    const missing = await call('GET', '/security-profiles/999999');
    expect(missing.status).toBe(404);
    expect(missing.headers.get('deprecation')).toMatch(/^@\d+$/);
    expect((await call('GET', `/usg-profiles/${profile.id}`)).headers.get('deprecation')).toBeNull();
    expect((await call('GET', '/security-profilesx')).status).toBe(404);
  });
});
