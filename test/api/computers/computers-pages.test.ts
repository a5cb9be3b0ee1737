import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { createAdmin, createTestApp, PUBLIC_URL, type TestApp } from '../../support/http/app.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import fc, { seedOr } from '../../support/common/random.ts';

let database: TestDatabase;
let db: Database;
let app: TestApp;
let token: string;
let accountId: number;

beforeAll(async () => {
  database = await createTestDatabase({ poolSize: 2 });
  ({ db } = database.persistence);
  ({ accountId } = await createAdmin(database.persistence));
  app = await createTestApp(database.persistence);
  token = await app.login();
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const get = async (link: string) => {
  const response = await app.call('GET', link.replace(PUBLIC_URL, ''), { token });
  expect(response.status, response.text).toBe(200);
  return response.body as { count: number; results: { id: number }[]; next: string | null; previous: string | null };
};

/** What happens to the fleet between two pages. */
const change = fc.record({
  do: fc.constantFrom('add', 'archive', 'remove', 'untag', 'come back', 'nothing'),
  pick: fc.nat(99),
});

/** The computers with one tag, and what has become of them. */
class TaggedFleet {
  readonly tag: string;
  readonly there = new Set<number>();
  readonly removed = new Set<number>();
  /** Those that were there from the first page to the last. */
  readonly stayed = new Set<number>();

  constructor(tag: string) {
    this.tag = tag;
  }

  async add(): Promise<number> {
    const id = await insertComputer(db, { accountId, title: this.tag, tags: [this.tag] });
    this.there.add(id);
    return id;
  }

  async happen({ do: what, pick }: { do: string; pick: number }): Promise<void> {
    if (what === 'add') await this.add();
    if (what === 'come back' && this.removed.size > 0) {
      const id = [...this.removed][pick % this.removed.size]!;
      await db.query('update computer set archived = false, tags = $2 where id = $1', [id, [this.tag]]);
      this.removed.delete(id);
      this.there.add(id);
    }
    const statement = LEAVING[what];
    if (!statement || this.there.size === 0) return;
    const id = [...this.there][pick % this.there.size]!;
    await db.query(statement, [id]);
    this.there.delete(id);
    this.stayed.delete(id);
    if (what !== 'remove') this.removed.add(id);
  }
}

const LEAVING: Readonly<Record<string, string>> = {
  archive: 'update computer set archived = true where id = $1',
  remove: 'delete from computer where id = $1',
  untag: `update computer set tags = '{}' where id = $1`,
};

describe('pages of computers', () => {
  it('walking next shows each computer once while others come and go', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.record({ size: fc.nat(14), limit: fc.integer({ min: 2, max: 7 }) }),
        fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 8 }),
        async ({ size, limit }, changes) => {
          const fleet = new TaggedFleet(`walk-${run++}`);
          for (let made = 0; made < size; made++) fleet.stayed.add(await fleet.add());
          const seen: number[] = [];
          const steps = [...changes];
          let link: string | null = `/api/v2/computers?query=tag:${fleet.tag}&limit=${limit}`;
          while (link !== null) {
            const page = await get(link);
            expect(page.count).toBe(fleet.there.size);
            expect(page.results.every(({ id }) => fleet.there.has(id))).toBe(true);
            seen.push(...page.results.map(({ id }) => id));
            link = page.next;
            for (const step of steps.shift() ?? []) await fleet.happen(step);
          }
          expect(new Set(seen).size).toBe(seen.length);
          expect(seen).toEqual([...seen].sort((a, b) => a - b));
          expect([...fleet.stayed].filter((id) => !seen.includes(id))).toEqual([]);
        },
      ),
      { seed: seedOr(20_261_121), numRuns: 20 },
    );
  });

  it('walks back by previous, and counts off an offset without a cursor', async () => {
    const fleet = new TaggedFleet('back');
    const ids: number[] = [];
    for (let made = 0; made < 7; made++) ids.push(await fleet.add());
    const idsOf = (page: { results: { id: number }[] }) => page.results.map(({ id }) => id);
    const first = await get('/api/v2/computers?query=tag:back&limit=3');
    const second = await get(first.next!);
    const third = await get(second.next!);
    expect([first, second, third].map(idsOf)).toEqual([ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)]);
    expect([first.previous, third.next]).toEqual([null, null]);
    expect(idsOf(await get(third.previous!))).toEqual(ids.slice(3, 6));
    expect(idsOf(await get(second.previous!))).toEqual(ids.slice(0, 3));
    expect(idsOf(await get('/api/v2/computers?query=tag:back&limit=3&offset=2'))).toEqual(ids.slice(2, 5));
    const exact = await get('/api/v2/computers?query=tag:back&limit=7');
    expect([exact.count, exact.next]).toEqual([7, null]);
    const beyond = await get('/api/v2/computers?query=tag:back&limit=3&offset=100');
    expect([beyond.count, beyond.results, beyond.next]).toEqual([7, [], null]);
  });

  it('returns the count without rows for a limit of 0, and leads from past the end to the last page', async () => {
    const none = await get('/api/v2/computers?query=tag:back&limit=0');
    expect([none.count, none.results, none.next, none.previous]).toEqual([7, [], null, null]);
    const beyond = await get('/api/v2/computers?query=tag:back&limit=3&offset=100');
    expect(new URL(beyond.previous!).searchParams.get('offset')).toBe('6');
    expect((await get(beyond.previous!)).results).toHaveLength(1);
    const edge = await get('/api/v2/computers?query=tag:back&limit=3&offset=8');
    expect(new URL(edge.previous!).searchParams.get('offset')).toBe('5');
    const empty = await get('/api/v2/computers?query=tag:nowhere&limit=3&offset=100');
    expect(new URL(empty.previous!).searchParams.get('offset')).toBe('0');
  });

  it('PAGE-bad: counts off the offset where a cursor is none, or one of another page', async () => {
    const idsOf = (page: { results: { id: number }[] }) => page.results.map(({ id }) => id);
    const first = idsOf(await get('/api/v2/computers?limit=2'));
    for (const after of ['-1', 'x', '', '1.5', '0-2147483648', '0-9999999999', '0-', '5-1', '7']) {
      expect(idsOf(await get(`/api/v2/computers?limit=2&after=${after}`)), after).toEqual(first);
    }
    const { next } = await get('/api/v2/computers?limit=2');
    expect(idsOf(await get(next!.replace('offset=2', 'offset=0')))).toEqual(first);
    expect((await get('/api/v2/computers?after=0-2147483647')).results).toEqual([]);
    const twice = await app.call('GET', '/computers?after=0-1&after=0-2', { token });
    expect(twice.body).toMatchObject({ error: 'InvalidParameter', code: 400 });
  });
});
