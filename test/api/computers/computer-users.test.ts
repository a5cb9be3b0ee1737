import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
  const { web, desk, archived, foreign } = world.ids;
  await world.db.query(
    `insert into computer_user (computer_id, username, uid, name, enabled, location, home_phone, work_phone, primary_gid)
     values ($1, 'ubuntu', 1000, 'Ubuntu', true, null, null, null, 1000),
       ($1, 'ada', 1001, 'Ada Example, 100% remote', false, 'Room 4', '12', '34', 100),
       ($1, 'svc_backup', null, null, true, null, null, null, null),
       ($1, 'root', 0, 'root', true, null, null, null, 0),
       ($2, 'other', 1000, 'Other', true, null, null, null, 1000),
       ($3, 'former', 1000, 'Former', true, null, null, null, 1000), ($4, 'secret', 1000, 'Secret', true, null, null, null, 1000)`,
    [web, desk, archived, foreign],
  );
  await world.db.query(
    `insert into computer_group (computer_id, name, gid, members)
     values ($1, 'ubuntu', 1000, '{}'), ($1, 'sudo', 27, '{ubuntu,ada,gone}'), ($1, 'users', 100, '{ada}'), ($1, 'empty', 5, '{}'),
       ($1, 'odd', null, '{ada}'), ($2, 'ubuntu', 1000, '{ada}')`,
    [web, desk],
  );
});
afterAll(() => world?.close());

const users = (query = '', computer = 'web', token = world.tokens.auditor) =>
  world.app.call('GET', `/computers/${world.ids[computer]}/users${query}`, { token });
const names = async (query: string) =>
  (await users(query)).body.results.map(({ username }: { username: string }) => username);

describe('GET /computers/<id>/users', () => {
  it('pages what the computer reported, by user name, with the groups of each', async () => {
    expect((await users()).body).toMatchObject({ count: 4, next: null, previous: null });
    expect(await names('')).toEqual(['ada', 'root', 'svc_backup', 'ubuntu']);
    const first = await users('?limit=1');
    expect(first.body.next).toContain('limit=1&offset=1');
    expect(first.body.results).toEqual([
      {
        computer_id: world.ids['web'],
        username: 'ada',
        name: 'Ada Example, 100% remote',
        uid: 1001,
        primary_gid: 100,
        groups: ['odd', 'sudo', 'users'],
        enabled: false,
        location: 'Room 4',
        home_phone: '12',
        work_phone: '34',
      },
    ]);
    const last = await users('?limit=2&offset=2');
    expect(last.body).toMatchObject({ count: 4, next: null, previous: expect.stringContaining('offset=0') });
    expect(last.body.results).toMatchObject([
      { username: 'svc_backup', name: null, uid: null, primary_gid: null, groups: [] },
      { username: 'ubuntu', groups: ['sudo', 'ubuntu'] },
    ]);
    expect((await users('?limit=0')).body).toMatchObject({ count: 4, results: [] });
    expect((await users('?offset=9')).body).toMatchObject({ count: 4, results: [] });
  });

  it.each([
    ['BUNT', ['ubuntu']],
    ['example', ['ada']],
    ['o', ['ada', 'root']],
    ['100%', ['ada']],
    ['c_b', ['svc_backup']],
    ['c%b', []],
    ['nobody', []],
    ['', ['ada', 'root', 'svc_backup', 'ubuntu']],
  ])('finds %s in names', async (search, found) => {
    const query = `?search=${encodeURIComponent(search)}`;
    expect(await names(query)).toEqual(found);
    expect((await users(query)).body.count).toBe(found.length);
  });

  it('shows those of an archived computer, and none where none were reported', async () => {
    expect((await users('', 'archived')).body.results).toMatchObject([{ username: 'former', groups: [] }]);
    expect((await users('', 'db')).body).toEqual({ count: 0, results: [], next: null, previous: null });
  });

  it.each([
    ['of another account', 'foreign', 'admin'],
    ['that is pending', 'pending', 'admin'],
    ['out of sight', 'desk', 'servers'],
  ] as const)('knows no computer %s', async (_, computer, who) => {
    const { status, body } = await users('', computer, world.tokens[who]);
    expect({ status, error: body.error }).toEqual({ status: 404, error: 'UnknownComputer' });
  });

  it.each(['limit=-1', 'offset=x', 'search=a&search=b', 'search=%00', `search=${'a'.repeat(256)}`, 'username=ada'])(
    'rejects %s',
    async (query) => {
      expect(await users(`?${query}`)).toMatchObject({ status: 400, body: { error: 'InvalidParameter' } });
    },
  );
});
