import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { insertPackage, reportPackages, announcePackages } from '../../support/computers/computers.ts';

let world: FleetWorld;
const id: Record<string, number> = {};
/** In a set of a computer, and nothing is known of it. */
const UNKNOWN = 2_000_000_001;

beforeAll(async () => {
  world = await createFleetWorld();
  const { db, ids } = world;
  for (const [key, name, version] of [
    ['curl2', 'curl', '8.5.0-2'],
    ['curl10', 'curl', '8.5.0-10'],
    ['jq', 'jq', '1.7'],
    ['vim', 'vim', '9.1'],
    ['vim9', 'vim', '9.9'],
    ['secret', 'secret', '1'],
  ] as const) {
    id[key] = await insertPackage(db, name, version, `${name} 100% tool`);
  }
  const { curl2, curl10, jq, vim, vim9 } = id;
  await reportPackages(db, ids['web']!, {
    installed: [curl2!, vim!],
    available: [curl2!, curl10!, jq!, vim!, vim9!, UNKNOWN],
    upgrades: [curl10!, vim9!],
    locked: [vim!],
    security: [curl10!],
  });
  await reportPackages(db, ids['desk']!, { installed: [curl10!], available: [curl2!, curl10!, jq!] });
  await reportPackages(db, ids['foreign']!, { installed: [id['secret']!] });
});
afterAll(() => world?.close());

const list = async (query = '', token = world.tokens.admin) =>
  (await world.app.call('GET', `/packages${query}`, { token })).body;
const ofWeb = async (query = '') =>
  (await world.app.call('GET', `/computers/${world.ids['web']}/packages${query}`, { token: world.tokens.admin })).body;
const names = (body: { results: Array<{ name: string }> }) => body.results.map(({ name }) => name);

describe('GET /packages', () => {
  it('shows each package with its standing on every computer in sight', async () => {
    const { curl2, jq } = id;
    const body = await list();
    expect(body).toMatchObject({ count: 3, next: null, previous: null });
    expect(body.results.slice(0, 2)).toEqual([
      {
        id: curl2,
        name: 'curl',
        summary: 'curl 100% tool',
        computers: [
          { id: world.ids['web'], status: 'security', current_version: '8.5.0-2', available_version: '8.5.0-10' },
          { id: world.ids['desk'], status: 'installed', current_version: '8.5.0-10', available_version: '8.5.0-10' },
        ],
      },
      {
        id: jq,
        name: 'jq',
        summary: 'jq 100% tool',
        computers: [
          { id: world.ids['web'], status: 'available', current_version: null, available_version: '1.7' },
          { id: world.ids['desk'], status: 'available', current_version: null, available_version: '1.7' },
        ],
      },
    ]);
    expect((await list('', world.tokens.servers)).results[0].computers).toHaveLength(1);
  });

  it('pages by name and is narrowed by computers, names, words and states', async () => {
    expect(await list('?limit=1&offset=1')).toMatchObject({ count: 3, results: [{ name: 'jq' }] });
    expect((await list('?query=title:desk')).results.map((p: { computers: unknown[] }) => p.computers.length)).toEqual([
      1, 1,
    ]);
    expect(names(await list('?names=jq,vim'))).toEqual(['jq', 'vim']);
    expect(names(await list('?search=CUR'))).toEqual(['curl']);
    expect(names(await list('?search=100%25%20tool'))).toEqual(['curl', 'jq', 'vim']);
    expect(names(await list('?search=%25q'))).toEqual([]);
    expect(names(await list('?security=true'))).toEqual(['curl']);
    expect(names(await list('?installed=false&upgrade=false'))).toEqual(['curl', 'jq']);
    for (const query of ['id:abc', 'x'.repeat(8193)]) {
      expect((await list(`?query=${query}`)).error).toBe('InvalidQueryError');
    }
  });
});

describe('GET /computers/<id>/packages', () => {
  it('shows what the computer has and could have', async () => {
    const { curl2, curl10, jq, vim, vim9 } = id;
    expect((await ofWeb()).results).toEqual([
      {
        id: curl2,
        name: 'curl',
        summary: 'curl 100% tool',
        status: 'security',
        current_version: '8.5.0-2',
        available_version: '8.5.0-10',
        available_id: curl10,
      },
      {
        id: jq,
        name: 'jq',
        summary: 'jq 100% tool',
        status: 'available',
        current_version: null,
        available_version: '1.7',
        available_id: jq,
      },
      {
        id: vim,
        name: 'vim',
        summary: 'vim 100% tool',
        status: 'held',
        current_version: '9.1',
        available_version: '9.9',
        available_id: vim9,
      },
    ]);
  });

  it.each([
    ['installed=true', ['curl', 'vim']],
    ['installed=true&held=false', ['curl']],
    ['held=true', ['vim']],
    ['upgrade=true', ['curl', 'vim']],
    ['available=false&upgrade=true', ['curl', 'vim']],
    ['installed=true&upgrade=true', ['curl', 'vim']],
    ['installed=true&security=true', ['curl']],
    ['available=false&security=true', ['curl']],
    ['held=true&upgrade=true', ['vim']],
    ['held=false&upgrade=true', ['curl']],
    ['held=true&security=true', []],
    ['available=false', []],
  ])('is narrowed by %s', async (query, expected) => {
    expect(names(await ofWeb(`?${query}`))).toEqual(expected);
  });
});

describe('POST /packages', () => {
  const act = (over: object, token = world.tokens.admin) =>
    world.app.call('POST', '/packages', {
      token,
      body: {
        action: 'install',
        computer_ids: [world.ids['web'], world.ids['desk']],
        package_ids: [id['jq']],
        ...over,
      },
    });
  const web = () => ({ computer_ids: [world.ids['web']] });

  it('makes one operation per computer', async () => {
    const { status, body } = await act({});
    expect(status).toBe(200);
    expect(body).toMatchObject({
      type: 'ActivityGroup',
      summary: 'Install package jq 1.7',
      activity_status: 'undelivered',
    });
    const children = await world.db.query(
      `select a.type, a.package_ids, p.message_type, p.fields from activity a join operation_payload p on p.id = a.payload_id
       where a.parent_id = $1`,
      [body.id],
    );
    const child = {
      type: 'ChangePackagesRequest',
      package_ids: [id['jq']],
      message_type: 'change-packages',
      fields: { install: [id['jq']], policy: 2 },
    };
    expect(children).toEqual([child, child]);
  });

  const fieldsOf = (group: number) =>
    world.db.query(
      `select a.summary, a.package_ids, p.fields from activity a join operation_payload p on p.id = a.payload_id
       where a.parent_id = $1 order by a.computer_id`,
      [group],
    );

  it.each([
    ['upgrade', 'curl10', 'install'],
    ['remove', 'curl2', 'remove'],
    ['hold', 'curl2', 'hold'],
    ['unhold', 'vim', 'remove-hold'],
  ] as const)('carries out %s', async (action, key, field) => {
    const { status, body } = await act({ ...web(), action, package_ids: [id[key], id[key]] });
    expect(status).toBe(200);
    const [row] = await fieldsOf(body.id);
    expect(row!['fields']).toEqual({ [field]: [id[key]], policy: 2 });
  });

  describe('by the id that the list shows', () => {
    const idOf = async (name: string, token = world.tokens.admin) =>
      (await list(`?names=${name}`, token)).results[0].id;

    it.each([
      ['upgrade', 'curl', 'curl10', 'install'],
      ['upgrade', 'vim', 'vim9', 'install'],
      ['remove', 'curl', 'curl2', 'remove'],
      ['hold', 'curl', 'curl2', 'hold'],
      ['unhold', 'vim', 'vim', 'remove-hold'],
      ['install', 'jq', 'jq', 'install'],
    ] as const)('does %s of %s', async (action, name, expected, field) => {
      const { status, body } = await act({ ...web(), action, package_ids: [await idOf(name)] });
      expect(status).toBe(200);
      expect(await fieldsOf(body.id)).toMatchObject([
        { package_ids: [id[expected]], fields: { [field]: [id[expected]], policy: 2 } },
      ]);
    });

    it('takes on each computer the version that it has', async () => {
      const { status, body } = await act({ action: 'remove', package_ids: [await idOf('curl')] });
      expect({ status, summary: body.summary }).toEqual({ status: 200, summary: 'Remove package curl' });
      expect(await fieldsOf(body.id)).toEqual([
        {
          summary: 'Remove package curl 8.5.0-2',
          package_ids: [id['curl2']],
          fields: { remove: [id['curl2']], policy: 2 },
        },
        {
          summary: 'Remove package curl 8.5.0-10',
          package_ids: [id['curl10']],
          fields: { remove: [id['curl10']], policy: 2 },
        },
      ]);
      const { body: read } = await world.app.call('GET', `/activities/${body.id}`, { token: world.tokens.admin });
      expect(read).toMatchObject({ activity_status: 'undelivered', children: [{}, {}] });
    });

    it('downgrades to the newest that is older', async () => {
      const desk = { computer_ids: [world.ids['desk']] };
      const { status, body } = await act({ ...desk, action: 'downgrade', package_ids: [id['curl10']] });
      expect(status).toBe(200);
      expect(await fieldsOf(body.id)).toMatchObject([{ fields: { install: [id['curl2']] } }]);
    });

    it('installs it where another computer has it', async () => {
      const computer = world.ids['db']!;
      await reportPackages(world.db, computer, { available: [id['curl10']!] });
      const taken = await act({ computer_ids: [computer], package_ids: [id['curl2']] });
      expect({ status: taken.status, error: taken.body.error }).toEqual({ status: 400, error: 'PackageNotEligible' });
      await announcePackages(world.db, world.accountId, id['curl2']!);
      const { status, body } = await act({ computer_ids: [computer], package_ids: [id['curl2']] });
      expect(status).toBe(200);
      expect(await fieldsOf(body.id)).toMatchObject([{ fields: { install: [id['curl10']] } }]);
    });

    it('never takes an upgrade back to an older version', async () => {
      const desk = { computer_ids: [world.ids['desk']] };
      const { status, body } = await act({ ...desk, action: 'upgrade', package_ids: [await idOf('curl')] });
      expect({ status, error: body.error }).toEqual({ status: 400, error: 'PackageNotEligible' });
    });
  });

  it.each<[string, () => object, number, string]>([
    ['a package that one computer has already', () => ({ package_ids: [id['curl10']] }), 400, 'PackageNotEligible'],
    [
      'BATCH-mixed: a package of another account among own ones',
      () => ({ package_ids: [id['jq'], id['secret']] }),
      400,
      'PackageNotEligible',
    ],
    [
      'BATCH-mixed: a package that never was',
      () => ({ package_ids: [id['jq'], 2_000_000_000] }),
      400,
      'PackageNotEligible',
    ],
    ['the largest id there can be', () => ({ package_ids: [2_147_483_647] }), 400, 'PackageNotEligible'],
    [
      'BATCH-mixed: a package that nothing is known of',
      () => ({ ...web(), package_ids: [id['jq'], UNKNOWN] }),
      400,
      'PackageNotEligible',
    ],
    [
      'the removal of what is not there',
      () => ({ ...web(), action: 'remove', package_ids: [id['jq']] }),
      400,
      'PackageNotEligible',
    ],
    [
      'BATCH-mixed: a foreign computer among own ones',
      () => ({ computer_ids: [world.ids['web'], world.ids['foreign']] }),
      404,
      'UnknownComputer',
    ],
    ['no package', () => ({ package_ids: [] }), 400, 'InvalidParameter'],
    ['another action', () => ({ action: 'explode' }), 400, 'InvalidParameter'],
    ['TIME-bad: the past', () => ({ deliver_after: '2020-01-01T00:00:00Z' }), 400, 'InvalidParameter'],
  ])('rejects %s, and stores nothing', async (_, over, status, error) => {
    const stored = () => world.db.query('select count(*) from activity union all select count(*) from event');
    const before = await stored();
    const response = await act(over());
    expect({ status: response.status, error: response.body.error }).toEqual({ status, error });
    expect(await stored()).toEqual(before);
  });
});
