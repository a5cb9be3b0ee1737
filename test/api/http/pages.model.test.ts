import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, PUBLIC_URL } from '../../support/http/app.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { createRightsWorld, type RightsWorld } from '../../support/identity/rights-world.ts';
import { OPERATIONS } from '../../support/http/sample-requests.ts';
import fc from '../../support/common/random.ts';

let world: RightsWorld;
let token: string;
let turn = 0;

beforeAll(async () => {
  world = await createRightsWorld();
  token = await world.app.login(ADMIN);
});

afterAll(async () => {
  await world?.close();
});

const call = (method: string, path: string, body?: unknown) => world.app.call(method, path, { token, body });

interface Page {
  count: number;
  results: Array<{ id: number }>;
  next: string | null;
  previous: string | null;
}

/** What a page of a list of these rows is; before one past the end comes the last one. */
function pageOf(ids: readonly number[], path: string, limit: number, offset: number) {
  const last = ids.length === 0 ? 0 : ids.length - (ids.length % limit || limit);
  const link = (to: number) => `${PUBLIC_URL}/api/v2${path}?limit=${limit}&offset=${to}`;
  return {
    count: ids.length,
    ids: ids.slice(offset, offset + limit),
    next: offset + limit < ids.length ? link(offset + limit) : null,
    previous: offset > 0 ? link(Math.min(Math.max(0, offset - limit), last)) : null,
  };
}

/** A list that rows can be added to and taken from, with what a plain array would hold. */
interface Kind {
  path: string;
  newestFirst: boolean;
  add(): Promise<number>;
  remove?(id: number): Promise<void>;
}

const create = (path: string, body: () => object) => async () => {
  const response = await call('POST', path, body());
  expect(response.status, response.text).toBeLessThan(300);
  return response.body.id as number;
};
const title = () => {
  turn += 1;
  return `Row ${turn}`;
};

const KINDS: readonly Kind[] = [
  {
    path: '/computers',
    newestFirst: false,
    add: () => insertComputer(world.db, { accountId: world.accountId, title: title() }),
    remove: async (id) => {
      const [row] = await world.db.query<{ title: string }>('select title from computer where id = $1', [id]);
      expect((await call('POST', `/computers/${id}/archive`, { computer_title: row!.title })).status).toBeLessThan(300);
    },
  },
  {
    path: '/activities/parents',
    newestFirst: true,
    add: create('/snaps', () => ({
      action: 'install',
      computer_ids: world.objects['computer_ids'],
      snaps: [{ name: 'hello' }],
    })),
  },
  {
    path: '/invitations',
    newestFirst: false,
    add: create('/invitations', () => ({ name: title(), email: `row-${turn}@fleet.example` })),
    remove: async (id) => {
      expect((await call('DELETE', `/invitations/${id}`)).status).toBe(204);
    },
  },
  {
    path: '/usg-profiles',
    newestFirst: false,
    add: create('/usg-profiles', () => ({
      title: title(),
      benchmark: 'disa_stig',
      mode: 'audit',
      schedule: 'FREQ=WEEKLY',
      start_date: '2090-01-01',
    })),
  },
  {
    path: '/script-profiles',
    newestFirst: true,
    add: create('/script-profiles', () => ({
      title: title(),
      script_id: world.objects['script_id'],
      all_computers: true,
      tags: [],
      time_limit: 60,
      username: 'root',
      trigger: { trigger_type: 'one_time', timestamp: '2090-01-01T00:00:00Z' },
    })),
    remove: async (id) => {
      expect((await call('POST', `/script-profiles/${id}:archive`)).status).toBe(204);
    },
  },
];

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('add' as const), pick: fc.nat(99) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), pick: fc.nat(99) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('page' as const),
      limit: fc.integer({ min: 1, max: 9 }),
      offset: fc.integer({ min: 0, max: 24 }),
    }),
  },
);

describe('pages against a plain array, while rows come and go', () => {
  it.each(KINDS.map((kind) => [kind.path, kind] as const))(
    'of %s hold what it holds',
    async (path, kind) => {
      const read = async (limit: number, offset: number) => {
        const { body } = await call('GET', `${path}?limit=${limit}&offset=${offset}`);
        const { results, count, next, previous } = body as Page;
        // Links of computers carry a cursor after limit and offset.
        const bare = (url: string | null) => url?.replace(/&after=\d+-\d+/, '') ?? null;
        return { count, ids: results.map(({ id }) => id), next: bare(next), previous: bare(previous) };
      };
      const model = (await read(1000, 0)).ids;
      const run = async ({ ...one }: typeof step extends fc.Arbitrary<infer T> ? T : never) => {
        if (one.do === 'page') {
          expect(await read(one.limit, one.offset)).toEqual(pageOf(model, path, one.limit, one.offset));
        } else if (one.do === 'add') {
          const id = await kind.add();
          if (kind.newestFirst) model.unshift(id);
          else model.push(id);
        } else if (kind.remove && model.length > 2) {
          const [id] = model.splice(1 + (one.pick % (model.length - 1)), 1);
          await kind.remove(id!);
        }
      };
      const trial = fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 25, size: 'max' }), async (steps) => {
        for (const one of steps) await run(one);
      });
      // A failure prints its seed and path, and the shortest steps that fail.
      await fc.assert(trial, { numRuns: 6 });
    },
    120_000,
  );
});

describe('pages of every list', () => {
  it('keep parameters with a question mark in them, and those after it', async () => {
    for (let i = 0; i < 2; i++) await insertComputer(world.db, { accountId: world.accountId, title: `why?${i}` });
    const requested = 'query=NOT%20title:none?&with_network=1';
    const { next } = (await call('GET', `/computers?${requested}&limit=1`)).body as Page;
    const { searchParams } = new URL(next!);
    expect([searchParams.get('query'), searchParams.get('with_network')]).toEqual(['NOT title:none?', '1']);
  });

  const lists = OPERATIONS.filter((o) => ['limit', 'offset'].every((name) => o.allQueryParameters.includes(name)));

  it.each(lists.map((o) => [o.title, o] as const))('%s is the same by pages as at once', async (_, operation) => {
    const path = operation.path.replace(/\{(\w+)\}/g, (__, name: string) => String(world.objects[name]));
    const needed = operation.queryParameters.map((name) => `&${name}=${world.objects[name]}`).join('');
    const all = (await call('GET', `${path}?limit=1000${needed}`)).body as Page;
    expect(all.count).toBe(all.results.length);
    expect([all.next, all.previous]).toEqual([null, null]);
    const limit = Math.max(1, Math.ceil(all.count / 4));
    const seen: unknown[] = [];
    let next: string | null = `${PUBLIC_URL}/api/v2${path}?limit=${limit}${needed}`;
    for (let offset = 0; next !== null; offset += limit) {
      const page = (await call('GET', next.slice(`${PUBLIC_URL}/api/v2`.length))).body as Page;
      expect(page.count).toBe(all.count);
      expect(page.previous === null).toBe(offset === 0);
      seen.push(...page.results);
      next = page.next;
    }
    expect(seen).toEqual(all.results);
    const past = (await call('GET', `${path}?limit=5&offset=100000${needed}`)).body as Page;
    expect(past).toMatchObject({ count: all.count, results: [], next: null });
    const last = (await call('GET', past.previous!.slice(`${PUBLIC_URL}/api/v2`.length))).body as Page;
    const rest = all.results.length % 5 || Math.min(5, all.results.length);
    expect(last).toMatchObject({ count: all.count, results: all.results.slice(all.results.length - rest), next: null });
  });
});
