import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DocumentedOperation, OPERATIONS, type Samples, sampleBody } from '../../support/http/sample-requests.ts';
import { createRightsWorld, MARK, NEVER, OTHER_MARK, type RightsWorld } from '../../support/identity/rights-world.ts';
import { neverAt, OBJECT_PLACES, type ObjectPlace, unknownPlaces } from './rights-table.ts';

let world: RightsWorld;
/** Digest of every table after the test before. */
let last: string;

beforeAll(async () => {
  world = await createRightsWorld();
  last = await world.fingerprint();
});

afterAll(async () => {
  await world?.close();
});

async function expectNothingChanged(): Promise<void> {
  const before = last;
  last = await world.fingerprint();
  expect(last).toBe(before);
}

/** Objects of the caller's own account, and what operations need beside, so that they get as far as the place. */
function ownSamples({ id }: DocumentedOperation): Samples {
  const { invitation_id: _, ...own } = world.otherObjects;
  return {
    ...own,
    account: 'other',
    account_name: 'other',
    email: id === 'createInvitation' ? 'new@fleet.example' : 'other@fleet.example',
    password: 'correct horse',
    benchmark: 'disa_stig',
    schedule: 'FREQ=WEEKLY',
    snaps: [{ name: 'hello' }],
    ...(id.includes('PendingComputer') ? { computer_ids: [own['pending_id']] } : {}),
  };
}

/** A request of the other account about its own objects, but for one place. */
async function send(place: ObjectPlace, value: unknown) {
  const { operation, where, name } = place;
  const own = ownSamples(operation);
  const at = (here: ObjectPlace['where'], key: string) => (where === here && key === name ? value : own[key]);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(String(at('path', key))));
  const query = new URLSearchParams();
  for (const key of operation.allQueryParameters) {
    const isGiven = operation.queryParameters.includes(key) || (where === 'query' && key === name);
    if (isGiven) query.set(key, String(at('query', key)));
  }
  const { [where === 'query' ? name : '']: _, ...inBody } = own;
  const body = sampleBody(operation, where === 'body' ? { ...inBody, [name]: value } : inBody);
  const token = operation.access === 'none' ? null : await world.tokenOf('other account');
  const response = await world.app.call(operation.method, query.size > 0 ? `${path}?${query}` : path, { token, body });
  const headers = [...response.headers].filter(([key]) => !['date', 'x-request-id', 'content-length'].includes(key));
  const text = response.text.replaceAll(String(value), '#').replace(/\d+/g, '#');
  return { ...response, comparable: { status: response.status, headers, text } };
}

const REJECTIONS = /^(Unknown\w+|NotFound|Forbidden|KernelPackageNotEligible|PackageNotEligible)$/;
const places = OBJECT_PLACES.map((place) => [`${place.operation.title}: ${place.where} ${place.name}`, place] as const);
const theirs = (place: ObjectPlace) => place.read({ ...world.objects, account: 'standalone' });

describe('an object of another account', () => {
  it('is looked for in every parameter and field that names one', () => {
    expect(unknownPlaces(), 'declare in test/api/identity/rights-table.ts whether these name objects').toEqual([]);
    expect(places.length).toBeGreaterThan(80);
  });

  it.each(places)('JWT-otheraccount: %s is what never existed', async (_, place) => {
    const never = await send(place, neverAt(place));
    const foreign = await send(place, theirs(place));
    expect(foreign.comparable).toEqual(never.comparable);
    if (place.name === 'preferred_account') expect(never.body.error).toBe('InvalidParameter');
    else expect(never.body.error, never.text).toMatch(REJECTIONS);
    await expectNothingChanged();
  });

  const lists = places.filter(([, { where, name }]) => where !== 'path' && /s$/.test(name));
  it.each(lists)('BATCH-mixed: %s rejects own ones beside one of another account', async (_, place) => {
    const own = [place.read(ownSamples(place.operation))].flat();
    const never = await send(place, [...own, neverAt(place)].flat());
    const foreign = await send(place, [...own, theirs(place)].flat());
    expect(foreign.comparable).toEqual({ ...never.comparable, text: expect.any(String) });
    expect(foreign.body.error, foreign.text).toBe(never.body.error);
    expect(never.body.error, never.text).toMatch(REJECTIONS);
    expect(foreign.body.details?.length).toBe(never.body.details?.length);
    await expectNothingChanged();
  });
});

/** Everything a query over computers can name, about the objects of one account. */
const computerTerms = (objects: Samples, mark: string): string[] => [
  `id:${objects['computer_id']}`,
  `tag:${mark}`,
  `title:${mark}-computer`,
  `hostname:${mark}-computer.fleet.example`,
  `${mark}-comp`,
  ...['usg', 'security'].flatMap((type) => [
    `profile:${type}:${objects['usg_profile_id']}`,
    `profile:${type}:${objects['usg_profile_id']}:in-progress`,
  ]),
  `profile:script:${objects['script_profile_id']}`,
  ...['repository', 'package', 'upgrade', 'reboot', 'removal', 'wsl'].map(
    (type) => `profile:${type}:${objects['import_id']}`,
  ),
  `license-id:${objects['import_id']}`,
  `contract:${mark}-contract`,
  `annotation:${mark}-key`,
];
const activityTerms = (objects: Samples, mark: string): string[] => [
  `id:${objects['activity_id']}`,
  `parent-id:${objects['activity_id']}`,
  `creator:admin@fleet.example`,
  ...computerTerms(objects, mark).map((term) => `computer:"${term}"`),
];
/** What operations on many computers put into each. */
const CHANGE: Samples = { key: 'k', value: 'v', tags: ['t'] };
const without = (names: string[], samples: Samples): Samples =>
  Object.fromEntries(Object.entries(samples).filter(([name]) => !names.includes(name)));
/** Names that are looked up, and are an error when there is no such thing. */
const lookedUp = (objects: Samples) => [
  `search:${objects['saved_search_name']}`,
  `access-group:${objects['access_group_name']}`,
];

describe('a query over what another account has', () => {
  // Events have a test of their own (test/api/events/event-feed.test.ts).
  const lists = OPERATIONS.filter(
    ({ method, path, allQueryParameters: q }) => method === 'GET' && q.includes('query') && !path.startsWith('/events'),
  );
  it.each(lists.map((o) => [o.title, o] as const))(
    'JWT-otheraccount: %s finds nothing by it',
    async (title, operation) => {
      const nothing = { count: 0, [title.endsWith('/map') ? 'ids' : 'results']: [] };
      const termsOf = title.includes('activities') ? activityTerms : computerTerms;
      const token = await world.tokenOf('other account');
      const search = (query: string) =>
        world.app.call('GET', `${operation.path}?${new URLSearchParams({ query })}`, { token });
      const all = (await world.app.call('GET', operation.path, { token })).body.count;
      expect(all).toBeGreaterThan(0);
      for (const term of termsOf(world.objects, MARK)) {
        expect((await search(term)).body, term).toMatchObject(nothing);
        // A listing of packages is one of computers that are chosen and have them.
        expect((await search(`NOT ${term}`)).body.count, term).toBe(all);
      }
      for (const [index, term] of lookedUp(world.objects).entries()) {
        const requested = title.includes('activities') ? `computer:${term}` : term;
        const never = `${title.includes('activities') ? 'computer:' : ''}${lookedUp(NEVER)[index]}`;
        const [foreign, unknown] = [await search(requested), await search(never)];
        const plain = (text: string) => text.replaceAll(/marked-(search|group)/g, 'never-was');
        expect([foreign.status, plain(foreign.text)], term).toEqual([unknown.status, unknown.text]);
      }
    },
  );

  it('BATCH-mixed: acts on none of its computers or activities', async () => {
    const token = await world.tokenOf('other account');
    const untouched = await world.fingerprint(world.accountId);
    // Webhooks keep their query.
    const acting = OPERATIONS.filter(
      ({ path, body }) => !path.startsWith('/webhooks') && 'query' in ((body?.['properties'] as object) ?? {}),
    );
    expect(acting.length).toBeGreaterThan(7);
    for (const operation of acting) {
      const terms = operation.path.startsWith('/activities') ? activityTerms : computerTerms;
      const samples = without(['computer_ids', 'activity_ids'], { ...ownSamples(operation), ...CHANGE });
      const path = operation.path.replace('{script_id}', String(samples['script_id']));
      for (const term of terms(world.objects, MARK).slice(0, 6)) {
        const body = sampleBody(operation, {
          ...samples,
          access_group: 'global',
          query: `${term} OR id:${NEVER['computer_id']}`,
        });
        const response = await world.app.call('POST', path, { token, body });
        expect(response.status, `${operation.title} ${term}: ${response.text}`).toBeLessThan(500);
      }
    }
    expect(await world.fingerprint(world.accountId)).toBe(untouched);
    last = await world.fingerprint();
  });
});

describe('pages, blocks and files', () => {
  const reads = OPERATIONS.filter(({ method, access }) => method === 'GET' && access !== 'none');
  const sides = [
    ['other account', OTHER_MARK, MARK],
    ['GlobalAdmin', MARK, OTHER_MARK],
  ] as const;

  it.each(sides)(
    'JWT-otheraccount: show %s its own rows alone, with every block, on every page',
    async (who, own, foreign) => {
      const objects = who === 'other account' ? world.otherObjects : world.objects;
      const token = await world.tokenOf(who);
      const seen: string[] = [];
      for (const operation of reads) {
        const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
          encodeURIComponent(String(objects[name])),
        );
        const texts: string[] = [];
        for (const query of queriesOf(operation, objects)) {
          let next: string | null = `${path}?${query}`;
          for (let page = 0; next !== null && page < 30; page += 1) {
            const response = await world.app.call('GET', next, { token });
            expect(response.status, `${next} ${response.text}`).toBeLessThan(500);
            expect(response.text, next).not.toContain(foreign);
            texts.push(response.text);
            next = response.body?.next ? response.body.next.replace(/^.*\/api\/v2/, '') : null;
          }
        }
        if (texts.some((text) => text.includes(own))) seen.push(operation.title);
      }
      // Most lists show something of their own account, or the test would prove nothing.
      expect(seen.length, seen.join('\n')).toBeGreaterThan(25);
    },
  );
});

/** One request as it comes, one with everything switched on, one page by page, one from a foreign cursor on. */
function queriesOf(operation: DocumentedOperation, objects: Samples): string[] {
  const { allQueryParameters: all } = operation;
  const needed = Object.fromEntries(
    operation.queryParameters.map((name): [string, string] => [name, String(objects[name])]),
  );
  const blocks = Object.fromEntries(all.filter((name) => name.startsWith('with_')).map((name) => [name, 'true']));
  const queries = [needed];
  if (Object.keys(blocks).length > 0)
    queries.push({ ...needed, ...blocks }, { ...needed, ...blocks, root_only: 'false' });
  if (all.includes('limit')) queries.push({ ...needed, limit: '1', offset: '0' });
  if (all.includes('after')) queries.push({ after: '0', limit: '1' }, { after: '1' }, { after: '2147483647' });
  if (all.includes('computer_ids')) queries[0] = { computer_ids: String(objects['computer_id']) };
  return queries.map((query) => new URLSearchParams(query).toString());
}
