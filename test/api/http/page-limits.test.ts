import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { OPERATIONS } from '../../support/http/sample-requests.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const POSITIVE = 'GET /usg-profiles';
const lists = OPERATIONS.filter(
  ({ title, pathParameters, allQueryParameters }) =>
    title.startsWith('GET ') && pathParameters.length === 0 && allQueryParameters.includes('limit'),
).map(({ title }) => title);

const get = (title: string, limit: number) => {
  const [, path] = title.split(' ');
  const more = path === '/computers/activities' ? `&computer_ids=${world.ids['web']}` : '';
  return world.app.call('GET', `${path}?limit=${limit}${more}`, { token: world.tokens.admin });
};

describe('a list with limit 0', () => {
  it('is one of many', () => {
    expect(lists.length).toBeGreaterThan(12);
    expect(lists).toContain(POSITIVE);
  });

  it.each(lists.filter((title) => title !== POSITIVE))('%s: returns the count alone', async (title) => {
    const all = await get(title, 1000);
    expect(await get(title, 0)).toMatchObject({
      status: 200,
      body: { count: all.body.count, results: [], next: null, previous: null },
    });
  });

  it(`${POSITIVE}: accepts positive limits only`, async () => {
    expect((await get(POSITIVE, 0)).status).toBe(400);
    expect((await get(POSITIVE, 1)).status).toBe(200);
  });
});
