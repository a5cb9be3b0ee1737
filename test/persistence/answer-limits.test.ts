import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NO_ANSWER } from '../../src/domain/scripts/result.ts';
import { scriptOperation } from '../../src/domain/scripts/script.ts';
import { createLaneStore, type LaneStore } from '../../src/persistence/repositories/lanes.repository.ts';
import type { Database } from '../../src/persistence/sql.ts';
import { aChain, aGroup, anAccount, childrenOf, TestClock, tell } from '../support/activity-rows.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const SECOND_MS = 1000;
const LIMIT = 60;
/** Time limit and ten minutes. */
const PATIENCE_MS = (LIMIT + 600) * SECOND_MS;

let database: TestDatabase;
let db: Database;
let clock: TestClock;
let store: LaneStore;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
});
afterAll(() => database?.drop());
beforeEach(() => {
  clock = new TestClock();
  store = createLaneStore({ db, clock, settings: { expiryDays: 30 } });
});

const body = { id: 1, version: 1, title: 'Say hello', interpreter: '/bin/sh', code: 'echo hello', attachments: [] };
const run = (timeLimit = LIMIT) => scriptOperation(body, { username: 'root', timeLimit, env: {} });

async function delivered(operations: Parameters<typeof aGroup>[2], computers = 1) {
  const account = await anAccount(db, { computers });
  const group = await aGroup(db, account, { now: clock.now(), settings: { singleLaneLimit: 0 }, ...operations });
  const children = await childrenOf(db, group);
  const lane = children[0]!.lane_id;
  await store.advance(lane, false);
  const at = clock.now();
  for (const { id, message } of await childrenOf(db, group)) {
    if (message !== null) await tell(db, { lane, activity: id, kind: 'delivered', at });
  }
  return { group, lane, ids: children.map(({ id }) => id), at, first: await store.advance(lane, false) };
}

describe('an operation with a limit on its answer', () => {
  it('fails ten minutes after its time limit, not before, and says why', async () => {
    const { group, lane, at, first } = await delivered({ operations: [run()] }, 3);
    expect(first.nextDueAt).toBe(at.getTime() + PATIENCE_MS);
    clock.advance(PATIENCE_MS - SECOND_MS);
    expect(await store.advance(lane, false)).toMatchObject({ open: 3, failed: 0 });
    clock.advance(SECOND_MS);
    expect(await store.advance(lane, false)).toMatchObject({ open: 0, failed: 3, nextDueAt: null });
    for (const child of await childrenOf(db, group)) {
      expect(child).toMatchObject({ status: 'failed', result_text: NO_ANSWER, result_code: null });
    }
  });

  it('is not ended by what came in time, and keeps what came first', async () => {
    const { group, lane, ids, at } = await delivered({ operations: [run()] }, 2);
    await tell(db, { lane, activity: ids[0]!, kind: 'result', ok: true, body: 'hello\n', at });
    clock.advance(PATIENCE_MS);
    expect(await store.advance(lane, false)).toMatchObject({ open: 0, succeeded: 1, failed: 1 });
    await tell(db, { lane, activity: ids[1]!, kind: 'result', ok: true, body: 'late\n', at: clock.now() });
    await store.applyLate(lane);
    expect((await childrenOf(db, group)).map(({ result_text }) => result_text)).toEqual(['hello\n', NO_ANSWER]);
  });

  it('waits without an end for its delivery', async () => {
    const account = await anAccount(db);
    const group = await aGroup(db, account, { now: clock.now(), operations: [run()] });
    const [child] = await childrenOf(db, group);
    expect((await store.advance(child!.lane_id, false)).nextDueAt).toBeNull();
    clock.advance(40 * 86_400 * SECOND_MS);
    expect(await store.advance(child!.lane_id, false)).toMatchObject({ open: 1, nextDueAt: null });
  });

  it('leaves others of its lane their own time', async () => {
    const [install] = aChain(1);
    const operations = [run(), { ...run(3600), summary: 'longer' }, { ...install!, after: null }];
    const { group, lane } = await delivered({ operations });
    clock.advance(PATIENCE_MS);
    const soon = await store.advance(lane, false);
    expect(soon).toMatchObject({ open: 2, failed: 1 });
    expect(soon.nextDueAt).toBe(clock.now().getTime() + 3540 * SECOND_MS);
    clock.advance(3540 * SECOND_MS);
    const rest = await store.advance(lane, false);
    expect(rest).toMatchObject({ open: 1, failed: 2 });
    expect(rest.nextDueAt).toBe(clock.now().getTime() - (3600 + 600) * SECOND_MS + 30 * 86_400 * SECOND_MS);
    clock.advance(30 * 86_400 * SECOND_MS);
    await store.advance(lane, false);
    const texts = (await childrenOf(db, group)).map(({ result_text }) => result_text);
    expect(texts).toEqual([NO_ANSWER, NO_ANSWER, 'The computer did not answer within 30 days of delivery.']);
  });

  it('cancels the steps behind it when it is not answered', async () => {
    const operations = [run(), { ...run(), after: 0 }];
    const { group, lane } = await delivered({ operations });
    clock.advance(PATIENCE_MS);
    expect(await store.advance(lane, false)).toMatchObject({ open: 0, failed: 1, canceled: 1 });
    expect((await childrenOf(db, group)).map(({ status }) => status)).toEqual(['failed', 'canceled']);
  });

  it('is held to the usual days when those are fewer', async () => {
    store = createLaneStore({ db, clock, settings: { expiryDays: 0.001 } });
    const { group, lane, at, first } = await delivered({ operations: [run()] });
    expect(first.nextDueAt).toBe(at.getTime() + 86_400);
    clock.advance(86_400);
    await store.advance(lane, false);
    expect((await childrenOf(db, group))[0]!.result_text).toContain('0.001 days');
  });
});
