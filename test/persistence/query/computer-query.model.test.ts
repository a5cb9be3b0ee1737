import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseComputerQuery } from '../../../src/domain/query/computer-query.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { Compilation } from '../../../src/persistence/query/compilation.ts';
import {
  compileComputerQuery,
  computersCondition,
  type SavedQueries,
} from '../../../src/persistence/query/computer-conditions.ts';
import { createAccount } from '../../../tools/harness/accounts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import fc, { seedOr } from '../../support/common/random.ts';
import {
  aForm,
  aQuery,
  aTerm,
  fulfils,
  NASTY,
  queryText,
  type ReferenceQuery,
  SELECTOR_NAMES,
} from './query-reference.ts';
import { createQueryWorld, NOW, type WorldComputer } from './query-world.ts';
import { type StoredWorld, storeQueryWorld } from './query-world-rows.ts';

const BATCH = 25;

let database: TestDatabase;
let db: Database;
let world: WorldComputer[];
let stored: StoredWorld;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
  const first = await createAccount(db, 'first');
  const second = await createAccount(db, 'second');
  world = createQueryWorld(seedOr(20_261_121), 200);
  stored = await storeQueryWorld(db, world, [first.accountId, second.accountId]);
});
afterAll(() => database?.drop());

const keyword = (value: string) => [[{ nots: 0, term: { selector: null, value } }]];
/** What the names of saved searches stand for. */
const SEARCHES: ReadonlyMap<string, ReferenceQuery> = new Map([
  ['first', [[...keyword('web')[0]!, { nots: 0, term: { selector: 'tag', value: 'lab' } }], ...keyword('1')]],
  ['second', [[{ nots: 1, term: { selector: 'needs', value: 'license' } }]]],
  ['everything', []],
]);
const searches: SavedQueries = new Map(
  [...SEARCHES].map(([name, query]) => [name, parseComputerQuery(queryText(query, [0]))]),
);

/** Ids that a query text finds in the first account: approved, not archived. One statement for all texts. */
async function findAll(texts: readonly string[]): Promise<number[][]> {
  const compilation = new Compilation({ accountId: stored.accounts[0], now: NOW });
  const parts = texts.map((text, place) => {
    const condition = computersCondition(parseComputerQuery(text), compilation, searches);
    return `select ${place} as place, array(select c.id from computer c
      where c.account_id = :accountId and c.state = 'approved' and not c.archived and ${condition} order by c.id) as ids`;
  });
  const rows = await db.query<{ ids: number[] }>(`${parts.join(' union all ')} order by place`, compilation.values);
  return rows.map(({ ids }) => ids);
}

function expectedIds(query: ReferenceQuery): number[] {
  const scope = { stored, account: 0 as const, searches: SEARCHES };
  return world
    .filter((c) => c.account === 0 && c.state === 'approved' && !c.archived && fulfils(c, query, scope))
    .map(({ index }) => stored.ids[index]!);
}

describe('the query language over SQL', () => {
  it('finds what the reference finds, for thousands of random queries', async () => {
    const queries = fc.array(fc.record({ query: aQuery(aTerm(stored)), form: aForm }), {
      minLength: 1,
      maxLength: BATCH,
      size: 'max',
    });
    let requested = 0;
    let found = 0;
    await fc.assert(
      fc.asyncProperty(queries, async (batch) => {
        const texts = batch.map(({ query, form }) => queryText(query, form));
        const ids = await findAll(texts);
        const wanted = batch.map(({ query }) => expectedIds(query));
        expect(texts.map((text, place) => [text, ids[place]])).toEqual(
          texts.map((text, place) => [text, wanted[place]]),
        );
        requested += batch.length;
        found += wanted.filter((some) => some.length > 0).length;
      }),
      { seed: seedOr(20_261_121), numRuns: 200 },
    );
    expect(requested).toBeGreaterThan(1000);
    expect(found).toBeGreaterThan(requested / 4);
  });

  it.each([null, ...SELECTOR_NAMES])('finds what the reference finds with %s alone', async (selector) => {
    const term = aTerm(stored).filter((drawn) => drawn.selector === selector);
    const terms = fc.sample(term, 40);
    const queries = terms.flatMap((one) => [0, 1].map((nots): ReferenceQuery => [[{ nots, term: one }]]));
    const ids = await findAll(queries.map((query, place) => queryText(query, [place % 5])));
    for (const [place, query] of queries.entries()) {
      expect(ids[place], queryText(query, [0])).toEqual(expectedIds(query));
    }
  });

  it('SQLI-query: has one statement for all values of a shape, and values as parameters alone', () => {
    const compile = (text: string) =>
      compileComputerQuery({ query: parseComputerQuery(text), searches, now: NOW }, stored.accounts[0]);
    const open = ['tag', 'hostname', 'title', 'distribution', 'access-group', 'access-group-recursive', 'mac', 'ip'];
    for (const selector of [...open, 'annotation', 'contract', 'license-id', 'instance-id']) {
      const plain = compile(`${selector}:x`);
      for (const nasty of [...NASTY, '\u0001', "x' UNION SELECT password_hash FROM person --", 'x'.repeat(5000)]) {
        const { text, values } = compile(`${selector}:"${nasty.replaceAll('\\', '\\\\')}"`);
        expect(text, `${selector}:${nasty}`).toBe(plain.text);
        expect(Object.keys(values)).toEqual(Object.keys(plain.values));
      }
      const composed = Object.keys(plain.values).filter((name) => name.startsWith('q'));
      expect([...new Set(plain.text.match(/(?<=:)q\d+/g))]).toEqual(composed);
    }
  });
});
