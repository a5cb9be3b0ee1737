import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { insertComputer } from '../../support/computers/computers.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());
beforeEach(async () => {
  await world.db.query(`update computer set tags = '{}', annotations = '{}'`);
  await world.db.query(`update computer set tags = '{lab,old_one}' where title in ('web', 'archived', 'foreign')`);
});

const post = (verb: string, body: unknown, token = world.tokens.admin) =>
  world.app.call('POST', `/computers:${verb}`, { token, body });
const rowOf = async (title: string) => {
  const [row] = await world.db.query<{ tags: string[]; annotations: Record<string, string>; access_group: string }>(
    `select c.tags, c.annotations, g.name as access_group from computer c join access_group g on g.id = c.access_group_id
     where c.id = $1`,
    [world.ids[title]],
  );
  return row!;
};
const events = async () => (await world.app.call('GET', '/events', { token: world.tokens.admin })).body.results;

describe('POST /computers:add-tags and :remove-tags', () => {
  it('change the computers that the query means and return their ids', async () => {
    const response = await post('add-tags', { query: 'title:web OR title:db', tags: ['lab', 'x-1', 'x-1'] });
    expect([response.status, response.body]).toEqual([200, [world.ids['web'], world.ids['db']]]);
    expect((await rowOf('web')).tags).toEqual(['lab', 'old_one', 'x-1']);
    expect((await rowOf('db')).tags).toEqual(['lab', 'x-1']);
    expect((await rowOf('desk')).tags).toEqual([]);
    expect((await events())[0]).toMatchObject({
      entity_type: 'Computer',
      entity_name: '2 computers',
      message: 'Added the tags lab, x-1 to 2 computers found by the query "title:web OR title:db"',
    });
    expect((await post('remove-tags', { query: '', tags: ['old_one', 'lab'] })).body).toEqual([
      world.ids['web'],
      world.ids['db'],
      world.ids['desk'],
    ]);
    expect((await rowOf('web')).tags).toEqual(['x-1']);
    for (const title of ['archived', 'foreign']) expect((await rowOf(title)).tags).toEqual(['lab', 'old_one']);
  });

  it('change nothing when no computer is meant', async () => {
    const before = (await events()).length;
    expect((await post('add-tags', { query: 'title:nobody', tags: ['a'] })).body).toEqual([]);
    expect((await events()).length).toBe(before);
  });

  it('reach the caller\u2019s groups alone, and reject what is seen but not managed', async () => {
    const { ids, tokens } = world;
    expect((await post('add-tags', { query: '', tags: ['mine'] }, tokens.servers)).body).toEqual([
      ids['web'],
      ids['db'],
    ]);
    const mixed = await post('add-tags', { query: '', tags: ['theirs'] }, tokens.mixed);
    expect(mixed.body).toMatchObject({ error: 'Forbidden', code: 403, details: [{ id: ids['desk'] }] });
    expect((await rowOf('web')).tags).not.toContain('theirs');
    expect((await post('add-tags', { query: '', tags: ['a'] }, tokens.auditor)).body.error).toBe('Forbidden');
  });

  it('take letters with their marks', async () => {
    const tags = ['सर्वर', 'เซิร์ฟเวอร์', 'cafe\u0301'];
    expect((await post('add-tags', { query: 'title:db', tags })).status).toBe(200);
    expect((await rowOf('db')).tags).toEqual(expect.arrayContaining(tags));
    expect((await post('remove-tags', { query: 'title:db', tags })).status).toBe(200);
    for (const tag of ['\u0301', 'a\u200b']) {
      expect((await post('add-tags', { query: '', tags: [tag] })).status).toBe(400);
    }
  });

  it('reject tags that are none, too many of them, and queries that are none', async () => {
    for (const tags of [[], [''], ['a b'], ['a_b'], ['x'.repeat(51)], [7], 'a', null]) {
      expect((await post('add-tags', { query: '', tags })).body, JSON.stringify(tags)).toMatchObject({
        error: 'InvalidParameter',
      });
    }
    const tags = Array.from({ length: 99 }, (_, n) => `t${n}`);
    const tooMany = await post('add-tags', { query: 'title:web', tags });
    expect(tooMany.body).toMatchObject({ error: 'InvalidParameter', details: [{ id: world.ids['web'] }] });
    expect((await rowOf('web')).tags).toEqual(['lab', 'old_one']);
    expect((await post('add-tags', { query: 'colour:red', tags: ['a'] })).body.error).toBe('InvalidQueryError');
    expect((await post('add-tags', { tags: ['a'] })).body.error).toBe('InvalidParameter');
  });
});

describe('computers chosen by a query that is none', () => {
  it.each([
    ['add-tags', { tags: ['a'] }],
    ['remove-tags', { tags: ['a'] }],
    ['annotate', { key: 'k', value: 'v' }],
    ['remove-annotation', { key: 'k' }],
    ['change-access-group', { access_group: 'servers' }],
  ])('QUERY-badsel: :%s changes none', async (verb, change) => {
    const before = await events();
    for (const query of ['colour:red', 'id:abc', 'OR', 'x'.repeat(8193)]) {
      const response = await post(verb, { query, ...change });
      expect([response.status, response.body.error]).toEqual([400, 'InvalidQueryError']);
    }
    expect(await events()).toEqual(before);
  });
});

describe('POST /computers:annotate and :remove-annotation', () => {
  it('set, replace and remove one annotation', async () => {
    await post('annotate', { query: 'title:web', key: 'site', value: 'north: "1"' });
    await post('annotate', { query: 'id:2 OR title:web', key: 'rack', value: '' });
    expect((await rowOf('web')).annotations).toEqual({ site: 'north: "1"', rack: '' });
    const found = await world.app.call('GET', '/computers?query=annotation:site:north', { token: world.tokens.admin });
    expect(found.body.results.map((computer: { id: number }) => computer.id)).toEqual([world.ids['web']]);
    await post('annotate', { query: 'title:web', key: 'site', value: 'south' });
    const removed = await post('remove-annotation', { query: '', key: 'rack' });
    expect(removed.body).toHaveLength(3);
    expect((await rowOf('web')).annotations).toEqual({ site: 'south' });
  });

  it('PROTO: keys, values and tags may be those of every object', async () => {
    for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect((await post('annotate', { query: 'title:web', key, value: '{"polluted":true}' })).status).toBe(200);
    }
    const { annotations } = (
      await world.app.call('GET', `/computers/${world.ids['web']}?with_annotations=true`, { token: world.tokens.admin })
    ).body;
    expect(Object.keys(annotations).sort()).toEqual(['__proto__', 'constructor', 'hasOwnProperty', 'toString']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    await post('remove-annotation', { query: '', key: '__proto__' });
    expect(Object.keys((await rowOf('web')).annotations)).not.toContain('__proto__');
    expect((await post('add-tags', { query: 'title:web', tags: ['constructor', 'toString'] })).status).toBe(200);
    expect((await post('add-tags', { query: 'title:web', tags: ['__proto__'] })).body.error).toBe('InvalidParameter');
    const tags = await world.app.call('GET', '/tags', { token: world.tokens.admin });
    expect(tags.body.results).toEqual(['constructor', 'lab', 'old_one', 'toString']);
  });

  it('reject keys that no query could name', async () => {
    for (const key of ['', 'a b', 'a:b', 'a"b', 'a\n', 'x'.repeat(256), 7, null]) {
      const response = await post('annotate', { query: '', key, value: 'v' });
      expect(response.body, JSON.stringify(key)).toMatchObject({ error: 'InvalidParameter', code: 400 });
    }
    for (const value of ['x'.repeat(10_001), 7, null, undefined]) {
      expect((await post('annotate', { query: '', key: 'k', value })).body.error).toBe('InvalidParameter');
    }
  });
});

describe('POST /computers:change-access-group', () => {
  it('needs the rights in both access groups', async () => {
    const { tokens, ids } = world;
    const move = (access_group: string, token: string) =>
      post('change-access-group', { query: 'title:desk', access_group }, token);
    expect((await move('nowhere', tokens.admin)).body).toMatchObject({ error: 'UnknownAccessGroup', code: 400 });
    expect((await move('servers', tokens.mixed)).body.error).toBe('Forbidden');
    expect((await move('desktops', tokens.servers)).body.error).toBe('Forbidden');
    expect((await move('servers', tokens.servers)).body).toEqual([]);
    expect((await move('servers', tokens.admin)).body).toEqual([ids['desk']]);
    expect((await rowOf('desk')).access_group).toBe('servers');
    const back = await post('change-access-group', { query: 'title:desk', access_group: 'desktops' }, tokens.servers);
    expect(back.body.error).toBe('Forbidden');
    await move('desktops', tokens.admin);
  });
});

describe('GET /tags', () => {
  it('lists tags in order, page by page, of computers in sight', async () => {
    await insertComputer(world.db, {
      accountId: world.accountId,
      title: 'far',
      group: 'desktops',
      tags: ['zone', 'lab'],
    });
    const list = async (query = '', token = world.tokens.admin) =>
      (await world.app.call('GET', `/tags${query}`, { token })).body;
    expect(await list()).toEqual({ count: 3, results: ['lab', 'old_one', 'zone'], next: null, previous: null });
    expect((await list('', world.tokens.servers)).results).toEqual(['lab', 'old_one']);
    expect(await list('?limit=1&offset=1')).toMatchObject({ count: 3, results: ['old_one'] });
    expect(await list('?offset=9')).toMatchObject({ count: 3, results: [], next: null });
  });
});

describe('PUT /computers/<id>', () => {
  it('keeps tags that the machine gave itself when they are sent back, and takes no others of their kind', async () => {
    const put = (tags: string[]) =>
      world.app.call('PUT', `/computers/${world.ids['web']}`, { token: world.tokens.admin, body: { tags } });
    expect((await put(['old_one', 'new'])).body.tags).toEqual(['new', 'old_one']);
    const { body } = await put(['other_one', 'fine', 'a b']);
    expect(body.error).toBe('InvalidParameter');
    expect(body.details.map(({ path }: { path: string }) => path)).toEqual(['body.tags.0', 'body.tags.2']);
  });
});
