import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseActivityQuery } from '../../../src/domain/query/activity-query.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { compileActivityQuery } from '../../../src/persistence/query/activity-conditions.ts';
import {
  type ActivitiesService,
  createActivitiesService,
} from '../../../src/services/activities/activities.service.ts';
import type { DetailedActivity } from '../../../src/services/activities/displayed-activities.ts';
import type { Caller } from '../../../src/services/common/ports.ts';
import { createRandom } from '../../../tools/simulator/random.ts';
import { anAccount, type TestAccount } from '../../support/activities/activity-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { administratorOf } from '../../support/http/app.ts';
import fc, { seedOr } from '../../support/common/random.ts';
import { aForm, aQuery, NASTY, queryText, type ReferenceQuery, type ReferenceTerm } from './query-reference.ts';

/** Rows of every stored position, at random, and somebody who sees them all and somebody who sees a part. */
interface ActivityQueryWorld {
  account: TestAccount;
  /** Texts for `computer:`. */
  computers: ReadonlyArray<{ id: number; title: string; tags: string[]; seen: boolean }>;
  everybody: Caller;
  restricted: Caller;
}

const NOW = new Date('2026-11-21T12:00:00Z');
const HOUR_MS = 3_600_000;
const STATUSES = [
  ...['unapproved', 'blocked', 'waiting', 'scheduled', 'delivered', 'succeeded', 'failed', 'canceled'],
  ...['undelivered', 'undelivered', 'undelivered', 'undelivered'],
];
const SUMMARIES = ['Install snaps on computer', 'Restart computer', '100% of a_b\\c', "Run script: O'Hara", 'STRASSE'];
const TYPES = ['ActivityGroup', 'InstallSnaps', 'RestartRequest', 'UsgActivity'];
const TAGS = ['lab', 'web'];
const GROUPS = 40;

/** Fills an account with groups of up to four operations, single operations and empty groups. */
async function createActivityQueryWorld(db: Database, seed: number): Promise<ActivityQueryWorld> {
  const random = createRandom(seed, 'activities');
  const { pick } = random;
  const windows = createRandom(seed, 'windows');
  const account = await anAccount(db, { computers: 8, maxMessageBacklog: 4 });
  const [other] = await db.query<{ id: number }>(
    `insert into access_group (account_id, name, title, parent_id) values ($1, 'seen', 'Seen', $2) returning id`,
    [account.accountId, account.groupId],
  );
  const computers: Array<ActivityQueryWorld['computers'][number]> = [];
  for (const id of account.computers) {
    const tags = TAGS.filter(() => random.chance(0.5));
    const seen = random.chance(0.4);
    const rows = await db.query<{ title: string }>(
      'update computer set tags = $2, access_group_id = $3 where id = $1 returning title',
      [id, tags, seen ? other!.id : account.groupId],
    );
    computers.push({ id, tags, seen, title: rows[0]!.title });
  }
  const everybody = await administratorOf(db, account);
  const restricted: Caller = { ...(await administratorOf(db, account)), groups: () => [other!.id] };
  const creators = [everybody.personId, restricted.personId, null];
  const insert = async (over: { parent: number | null; computer: number | null; children: number }) => {
    const deliverAt = pick([null, NOW, new Date(+NOW - HOUR_MS), new Date(+NOW + HOUR_MS)]);
    const [row] = await db.query<{ id: number }>(INSERT, [
      account.accountId,
      over.parent,
      over.computer,
      pick(TYPES),
      pick(SUMMARIES),
      pick(STATUSES),
      pick(creators),
      new Date(Date.UTC(2026, pick([9, 10]), pick([1, 20, 21]), pick([0, 10]), pick([0, 30]))),
      deliverAt,
      over.children,
      windows.pick([0, 60]),
    ]);
    if (over.computer !== null && random.chance(0.7)) {
      await db.query(MESSAGE, [row!.id, over.computer, pick(['acked', 'queued', 'queued', 'sent']), NOW]);
    }
    return row!.id;
  };
  for (let made = 0; made < GROUPS; made += 1) {
    const children = pick([0, 0, 1, 2, 3, 4]);
    const alone = children === 0 && random.chance(0.6);
    const parent = await insert({ parent: null, computer: alone ? pick(account.computers) : null, children });
    for (let child = 0; child < children; child += 1) {
      await insert({ parent, computer: pick(account.computers), children: 0 });
    }
  }
  return { account, computers, everybody, restricted };
}

const INSERT = `
  insert into activity (account_id, parent_id, computer_id, type, summary, status, creator_id, creation_time,
    deliver_at, children_count, deliver_delay_window)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning id`;

const MESSAGE = `
  insert into agent_message (activity_id, lane_id, computer_id, payload_id, state, deliver_at)
  values ($1, 0, $2, 0, $3, $4)`;

/** Seed of the rows, which have every status; the queries differ from run to run. */
const WORLD = 20_261_121;
const ALL = { limit: 1000, offset: 0 };

let database: TestDatabase;
let db: Database;
let world: ActivityQueryWorld;
let service: ActivitiesService;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
  world = await createActivityQueryWorld(db, WORLD);
  service = createActivitiesService({ ...database.persistence, clock: { now: () => NOW } });
});
afterAll(() => database?.drop());

const SHOWN_STATUSES = [
  'unapproved',
  'blocked',
  'waiting',
  'scheduled',
  'undelivered',
  'delivered',
  'succeeded',
  'failed',
];
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
    status: fc.constantFrom(...SHOWN_STATUSES, 'canceled', ...Object.keys(SHOWN)),
    activity_status: fc.constantFrom(...SHOWN_STATUSES),
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

/** Whether an activity matches, by what is shown alone. */
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
      fc.asyncProperty(aQuery(aTerm(rows)), aForm, async (query, form) => {
        const text = queryText(query, form);
        const wanted = rows.filter((row) => fulfils(row, query, rows, caller)).map(({ id }) => id);
        const { count, results } = await service.list(caller, text, ALL);
        expect([text, results.map(({ id }) => id)]).toEqual([text, wanted]);
        expect(count).toBe(wanted.length);
        requested += 1;
        if (wanted.length > 0) found += 1;
      }),
      { seed: seedOr(20_261_121), numRuns: 200 },
    );
    expect(found).toBeGreaterThan(requested / 4);
  });

  it.each([...SHOWN_STATUSES, 'canceled'])('finds as %s what is shown as such, parents too', async (status) => {
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
        { accountId: 1, view: [1] },
      );
    const attacks = [...NASTY, '\u0001', "x' UNION SELECT password_hash FROM person --", 'x'.repeat(5000)];
    for (const selector of ['', 'type:', 'creator:', 'computer:tag:', 'computer:hostname:', 'computer:annotation:']) {
      const plain = compile(`${selector}x`);
      for (const attack of attacks) {
        const { text, values } = compile(`${selector}"${attack.replace(/["\\]/g, '\\$&')}"`);
        expect(text, `${selector}${attack}`).toBe(plain.text);
        expect(Object.keys(values)).toEqual(Object.keys(plain.values));
      }
    }
    expect(compile('id:1 parent-id:2 created-after:2026-05').text).toBe(
      compile('id:9 parent-id:77 created-after:1999-01-01T00:00').text,
    );
  });
});
