import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseActivityQuery } from '../../../src/domain/query/activity-query.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { compileActivityQuery } from '../../../src/persistence/query/activity-conditions.ts';
import {
  type ActivitiesService,
  createActivitiesService,
} from '../../../src/services/activities/activities.service.ts';
import type { DetailedActivity } from '../../../src/services/activities/activity-views.ts';
import type { Caller } from '../../../src/services/common/ports.ts';
import {
  type ActivityQueryWorld,
  createActivityQueryWorld,
  NOW,
  SUMMARIES,
  TAGS,
  TYPES,
} from '../../support/activities/activity-query-world.ts';
import type { ReferenceQuery, ReferenceTerm } from '../../support/computers/query-reference.ts';
import { aQuery, aSpelling, NASTY, spell } from '../../support/computers/query-terms.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import fc, { seedOr } from '../../support/random.ts';

const SEED = seedOr(20_261_121);
const ALL = { limit: 1000, offset: 0 };

let database: TestDatabase;
let db: Database;
let world: ActivityQueryWorld;
let service: ActivitiesService;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
  world = await createActivityQueryWorld(db, SEED);
  service = createActivitiesService({ db, clock: { now: () => NOW } });
});
afterAll(() => database?.drop());

const STATUSES = ['unapproved', 'blocked', 'waiting', 'scheduled', 'undelivered', 'delivered', 'succeeded', 'failed'];
const SHOWN: Readonly<Record<string, string>> = {
  'in-progress': 'delivered',
  complete: 'succeeded',
  queued: 'undelivered',
};

/** Selectors with values that are often met. */
function aTerm(rows: readonly DetailedActivity[]): fc.Arbitrary<ReferenceTerm> {
  const ids = fc.constantFrom(...rows.map(({ id }) => String(id)), '0', '2147483648');
  const parents = rows.filter(({ children }) => children.length > 0).map(({ id }) => String(id));
  const emails = [world.everybody.email, world.restricted.email.toUpperCase(), 'nobody@fleet.example'];
  const times = ['2026', '2026-10', '2026-11', '2026-10-20', '2026-11-20', '2026-11-21T10:30', '9999-12'];
  const computers = world.computers.flatMap(({ id, title }) => [`id:${id}`, title, `title:${title.toUpperCase()}`]);
  const values: Readonly<Record<string, fc.Arbitrary<string>>> = {
    id: ids,
    'parent-id': fc.constantFrom(...parents, '0'),
    status: fc.constantFrom(...STATUSES, 'canceled', ...Object.keys(SHOWN)),
    activity_status: fc.constantFrom(...STATUSES),
    type: fc.constantFrom(...TYPES, ...NASTY),
    creator: fc.constantFrom(...emails, ...NASTY),
    'created-after': fc.constantFrom(...times.slice(1)),
    'created-before': fc.constantFrom(...times.slice(1)),
    computer: fc.constantFrom(
      ...computers,
      ...TAGS.map((tag) => `tag:${tag}`),
      'tag:lab OR tag:web',
      'NOT tag:lab web',
    ),
  };
  const words = [...SUMMARIES, 'snaps', 'RESTART', '%', '_', '\\', "'", 'b\\C', 'straße', ''];
  const keyword = fc.constantFrom(...words).map((value): ReferenceTerm => ({ selector: null, value }));
  const selectors = Object.entries(values).map(([selector, value]) =>
    value.map((text): ReferenceTerm => ({ selector, value: text })),
  );
  return fc.oneof({ weight: 2, arbitrary: keyword }, ...selectors);
}

const periodStart = (text: string) =>
  new Date(`${text.length === 7 ? `${text}-01` : text}${text.includes('T') ? 'Z' : ''}`);

/** Computers that a text of those above means, and that the caller sees. */
function computersOf(text: string, caller: Caller): ReadonlySet<number> {
  const holds = ({ id, title, tags }: ActivityQueryWorld['computers'][number]): boolean => {
    if (text === 'tag:lab OR tag:web') return tags.length > 0;
    if (text === 'NOT tag:lab web') return !tags.includes('lab');
    if (text.startsWith('tag:')) return tags.includes(text.slice(4));
    if (text.startsWith('id:')) return id === Number(text.slice(3));
    if (text.startsWith('title:')) return title.toLowerCase() === text.slice(6).toLowerCase();
    return title.includes(text);
  };
  const all = caller.groups('ViewComputer') === 'all';
  return new Set(world.computers.filter((one) => (all || one.seen) && holds(one)).map(({ id }) => id));
}

/** Tells from what is shown alone whether an activity is meant. */
function fulfils(row: DetailedActivity, query: ReferenceQuery, rows: readonly DetailedActivity[], caller: Caller) {
  const holds = ({ selector, value }: ReferenceTerm): boolean => {
    switch (selector) {
      case null:
        return row.summary.toLowerCase().includes(value.toLowerCase());
      case 'id':
        return row.id === Number(value);
      case 'parent-id':
        return row.parent_id === Number(value);
      case 'type':
        return row.type === value;
      case 'creator':
        return row.creator_email?.toLowerCase() === value.toLowerCase();
      case 'created-after':
        return row.creation_time >= periodStart(value);
      case 'created-before':
        return row.creation_time < periodStart(value);
      case 'computer': {
        const meant = computersOf(value, caller);
        const on = rows.filter(({ id, parent_id }) => id === row.id || parent_id === row.id);
        return on.some(({ computer_id }) => computer_id !== null && meant.has(computer_id));
      }
      default:
        return row.status === (SHOWN[value] ?? value);
    }
  };
  return query.every((factors) => factors.some(({ nots, term }) => holds(term) === (nots % 2 === 0)));
}

describe('the query language of activities over SQL', () => {
  it.each(['everybody', 'restricted'] as const)('finds what the reference finds in what %s is shown', async (who) => {
    const caller = world[who];
    const { results: rows } = await service.list(caller, '', ALL);
    const parents = await service.listParents(caller, '', ALL);
    expect(new Set(rows.map(({ status }) => status)).size).toBe(9);
    // Found in another way than without a query.
    expect(await service.list(caller, 'NOT id:0', ALL)).toEqual({ count: rows.length, results: rows });
    expect(await service.list(caller, '', { limit: 3, offset: 2 })).toEqual({
      count: rows.length,
      results: rows.slice(2, 5),
    });
    expect(parents.results.map(({ id, status }) => [id, status])).toEqual(
      rows.filter(({ parent_id }) => parent_id === null).map(({ id, status }) => [id, status]),
    );
    expect(await service.listParents(caller, 'NOT id:0', ALL)).toEqual(parents);
    let found = 0;
    let requested = 0;
    await fc.assert(
      fc.asyncProperty(aQuery(aTerm(rows)), aSpelling, async (query, spelling) => {
        const text = spell(query, spelling);
        const wanted = rows.filter((row) => fulfils(row, query, rows, caller)).map(({ id }) => id);
        const { count, results } = await service.list(caller, text, ALL);
        expect([text, results.map(({ id }) => id)]).toEqual([text, wanted]);
        expect(count).toBe(wanted.length);
        requested += 1;
        if (wanted.length > 0) found += 1;
      }),
      { seed: SEED, numRuns: 200 },
    );
    expect(found).toBeGreaterThan(requested / 4);
  });

  it.each([...STATUSES, 'canceled'])('finds as %s what is shown as such, parents too', async (status) => {
    for (const caller of [world.everybody, world.restricted]) {
      const { results: rows } = await service.list(caller, '', ALL);
      const wanted = rows.filter((row) => row.status === status).map(({ id }) => id);
      expect(wanted.length).toBeGreaterThan(0);
      expect((await service.list(caller, `status:${status}`, ALL)).results.map(({ id }) => id)).toEqual(wanted);
      const others = rows.filter((row) => row.status !== status).map(({ id }) => id);
      expect((await service.list(caller, `NOT status:${status}`, ALL)).results.map(({ id }) => id)).toEqual(others);
    }
  });

  it('SQLI-query: has one statement for all values of a shape, and values as parameters alone', () => {
    const compile = (text: string) =>
      compileActivityQuery(
        { query: parseActivityQuery(text), searches: new Map(), creators: new Map(), now: NOW },
        { accountId: 1, groups: [1], firstParameter: 3 },
      );
    const attacks = [...NASTY, '\u0001', "x' UNION SELECT password_hash FROM person --", 'x'.repeat(5000)];
    for (const selector of ['', 'type:', 'creator:', 'computer:tag:', 'computer:hostname:', 'computer:annotation:']) {
      const plain = compile(`${selector}x`);
      for (const attack of attacks) {
        const { text, values } = compile(`${selector}"${attack.replace(/["\\]/g, '\\$&')}"`);
        expect(text, `${selector}${attack}`).toBe(plain.text);
        expect(values).toHaveLength(plain.values.length);
      }
    }
    expect(compile('id:1 parent-id:2 created-after:2026-05').text).toBe(
      compile('id:9 parent-id:77 created-after:1999-01-01T00:00').text,
    );
  });
});
