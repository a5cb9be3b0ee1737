import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLaneStore, type LaneStore } from '../../src/persistence/repositories/lanes.repository.ts';
import type { Database } from '../../src/persistence/sql.ts';
import { aChain, aGroup, anAccount, childrenOf, type TestAccount, TestClock, tell } from '../support/activity-rows.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { LaneModel } from '../support/lane-model.ts';

const HOUR_MS = 3_600_000;
const EXPIRY_DAYS = 1;
const DELAY_SECONDS = 600;

let database: TestDatabase;
let db: Database;
let account: TestAccount;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
  account = await anAccount(db, { computers: 4 });
});
afterAll(() => database.drop());

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('deliver' as const), pick: fc.nat(99) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('result' as const), pick: fc.nat(99), ok: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('forged' as const), pick: fc.nat(99), ok: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('gone' as const), pick: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unknown' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('cancelLane' as const, 'cancelAll' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.constantFrom(1, 12, 36) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('advance' as const), again: fc.boolean() }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** One lane driven side by side in PostgreSQL and in the model. */
class Trial {
  readonly clock = new TestClock();
  readonly store: LaneStore;
  group = 0;
  lane = 0;
  model!: LaneModel;

  constructor() {
    this.store = createLaneStore({ db, clock: this.clock, settings: { expiryDays: EXPIRY_DAYS } });
  }

  async begin(computers: number, steps: number): Promise<void> {
    this.group = await aGroup(db, account, {
      computers: account.computers.slice(0, computers),
      operations: aChain(steps, DELAY_SECONDS),
      now: this.clock.now(),
      settings: { singleLaneLimit: 0 },
    });
    const children = await childrenOf(db, this.group);
    this.lane = children[0]!.lane_id;
    const operations = children.map(({ id, status, blocked_by }) => ({
      id,
      status,
      blockedBy: blocked_by,
      message: null,
      deliverAtMs: this.clock.now().getTime(),
      deliveredAtMs: null,
      endedAtMs: null,
    }));
    this.model = new LaneModel(operations, { expiryMs: EXPIRY_DAYS * 24 * HOUR_MS, delayMs: DELAY_SECONDS * 1000 });
  }

  async run(step: Step): Promise<void> {
    this.clock.advance(1000);
    const operations = [...this.model.operations.values()];
    const picked = 'pick' in step ? operations[step.pick % operations.length]! : operations[0]!;
    switch (step.do) {
      case 'deliver':
        return this.#deliver(picked.id);
      case 'result':
        if (picked.message === 'sent') await this.#news({ activity: picked.id, kind: 'result', ok: step.ok });
        return;
      case 'forged':
        return this.#news({ activity: picked.id, kind: 'result', ok: step.ok });
      case 'gone':
        return this.#news({ activity: picked.id, kind: 'gone' });
      case 'cancel':
        return this.#news({ activity: picked.id, kind: 'cancel' });
      case 'unknown':
        return this.#news({ activity: 2_000_000_000, kind: 'result', ok: true });
      case 'cancelLane':
        return this.#news({ activity: null, kind: 'cancel' });
      case 'wait':
        return this.clock.advance(step.hours * HOUR_MS);
      case 'cancelAll':
        return this.advance(true, false);
      case 'advance':
        return this.advance(false, step.again);
    }
  }

  async advance(cancelAll: boolean, again: boolean): Promise<void> {
    const first = await this.store.advance(this.lane, cancelAll);
    if (again) expect(await this.store.advance(this.lane, cancelAll)).toEqual(first);
    this.model.advance(this.clock.now().getTime(), cancelAll);
    await this.compare(first);
  }

  async compare(progress: { open: number; succeeded: number; failed: number; canceled: number }): Promise<void> {
    const { delivered, status, ...counts } = this.model.counts();
    expect(progress).toMatchObject(counts);
    const rows = await childrenOf(db, this.group);
    const seen = rows.map((row) => [row.id, row.status, row.message, row.delivery_time, row.completion_time]);
    const date = (ms: number | null) => (ms === null ? null : new Date(ms));
    const expected = [...this.model.operations.values()].map((o) => [
      o.id,
      o.status,
      o.message,
      date(o.deliveredAtMs),
      date(o.endedAtMs),
    ]);
    expect(seen).toEqual(expected);
    const [parent] = await db.query(
      `select open_count as open, delivered_count as delivered, succeeded_count as succeeded,
         failed_count as failed, canceled_count as canceled, status, completion_time from activity where id = $1`,
      [this.group],
    );
    const ends = rows.map((row) => row.completion_time?.getTime() ?? 0);
    const ended = counts.open === 0 ? new Date(Math.max(...ends)) : null;
    expect(parent).toEqual({ ...counts, delivered, status, completion_time: ended });
  }

  async #deliver(id: number): Promise<void> {
    const operation = this.model.operations.get(id)!;
    if (operation.message !== 'queued' || operation.deliverAtMs > this.clock.now().getTime()) return;
    await db.query(`update agent_message set state = 'sent' where activity_id = $1 and state = 'queued'`, [id]);
    operation.message = 'sent';
    await this.#news({ activity: id, kind: 'delivered' });
  }

  async #news(news: { activity: number | null; kind: 'delivered' | 'result' | 'gone' | 'cancel'; ok?: boolean }) {
    const row = { ...news, lane: this.lane, at: this.clock.now() };
    this.model.inbox.push(row);
    await tell(db, row);
  }
}

describe('advance', () => {
  it('does what the model does, whatever comes in which order, and keeps every counter a recount', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 3 }),
        fc.array(step, { minLength: 5, maxLength: 30 }),
        async (computers, chain, steps) => {
          const trial = new Trial();
          await trial.begin(computers, chain);
          for (const one of steps) await trial.run(one);
          await trial.advance(false, true);
          await trial.advance(true, true);
          const { open } = trial.model.counts();
          expect(open).toBe(0);
          expect(await db.query('select from agent_inbox where lane_id = $1', [trial.lane])).toEqual([]);
        },
      ),
      { seed: 20261121, numRuns: 120 },
    );
  }, 120_000);
});
