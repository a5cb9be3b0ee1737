import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteIdentity } from '../../../src/persistence/agents/identities.sql.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { createActivityRepeatsService } from '../../../src/services/engine/activity-repeats.service.ts';
import { createEngine, type Engine } from '../../../src/services/engine/engine.ts';
import {
  aChain,
  addEvent,
  aGroup,
  anAccount,
  childrenOf,
  ONE_BATCH,
  SETTINGS,
  type TestAccount,
  TestClock,
} from '../../support/activities/activity-rows.ts';
import { EngineModel, type ModelOperation } from '../../support/activities/engine-world.ts';
import { createTestDatabase, dyingAfter, guardStatuses, type TestDatabase } from '../../support/database/database.ts';
import { administratorOf } from '../../support/http/app.ts';
import fc, { seedOr } from '../../support/common/random.ts';

const HOUR_MS = 3_600_000;
const EXPIRY_DAYS = 1;
const DELAY_SECONDS = 600;

let database: TestDatabase;
let db: Database;
let account: TestAccount;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
  await guardStatuses(db);
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
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('cancelBatch' as const, 'cancelAll' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reregister' as const), pick: fc.nat(99) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const), statements: fc.nat(14) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.constantFrom(1, 12, 36) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('processEvents' as const), again: fc.boolean() }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** One batch driven side by side in PostgreSQL and in the model. */
class Trial {
  readonly clock: TestClock;
  readonly engine: Engine;
  group = 0;
  batch = 0;
  model!: EngineModel;

  constructor(clock = new TestClock()) {
    this.clock = clock;
    this.engine = createEngine({ ...database.persistence, clock: this.clock, settings: { expiryDays: EXPIRY_DAYS } });
  }

  /** @param dependencies - for each step but the first, the earlier one it waits for, or none */
  async start(computers: number, dependencies: ReadonlyArray<number | null>): Promise<void> {
    const steps = aChain(dependencies.length + 1, DELAY_SECONDS).map((operation, index) => {
      const after = dependencies[index - 1] ?? null;
      return { ...operation, after: after === null ? null : after % index };
    });
    const group = await aGroup(db, account, {
      computers: account.computers.slice(0, computers),
      operations: steps,
      now: this.clock.now(),
      settings: ONE_BATCH,
    });
    await this.follow(group);
  }

  /** Goes on with a group that is there. */
  async follow(group: number): Promise<void> {
    this.group = group;
    const children = await childrenOf(db, this.group);
    this.batch = children[0]!.lane_id;
    const operations = children.map(({ id, computer_id, status, blocked_by }) => ({
      id,
      computerId: computer_id,
      status,
      blockedBy: blocked_by,
      message: null,
      deliverAtMs: this.clock.now().getTime(),
      deliveredAtMs: null,
      endedAtMs: null,
    }));
    this.model = new EngineModel(operations, { expiryMs: EXPIRY_DAYS * 24 * HOUR_MS, delayMs: DELAY_SECONDS * 1000 });
  }

  async run(step: Step): Promise<void> {
    this.clock.advance(1000);
    const operations = [...this.model.operations.values()];
    const picked = 'pick' in step ? operations[step.pick % operations.length]! : operations[0]!;
    switch (step.do) {
      case 'deliver':
        return this.#deliver(picked.id);
      case 'result':
        if (picked.message === 'sent') await this.#addEvent({ activity: picked.id, kind: 'result', ok: step.ok });
        return;
      case 'forged':
        return this.#addEvent({ activity: picked.id, kind: 'result', ok: step.ok });
      case 'gone':
        return this.#addEvent({ activity: picked.id, kind: 'gone' });
      case 'cancel':
        return this.#addEvent({ activity: picked.id, kind: 'cancel' });
      case 'reregister':
        this.model.reregister(picked.computerId, this.clock.now());
        await db.query(
          `insert into agent_identity (secure_id_hash, computer_id) values (sha256(gen_random_uuid()::text::bytea), $1)`,
          [picked.computerId],
        );
        return deleteIdentity(db, picked.computerId, this.clock.now());
      case 'crash':
        return this.#crash(step.statements);
      case 'unknown':
        return this.#addEvent({ activity: 2_000_000_000, kind: 'result', ok: true });
      case 'cancelBatch':
        return this.#addEvent({ activity: null, kind: 'cancel' });
      case 'wait':
        return this.clock.advance(step.hours * HOUR_MS);
      case 'cancelAll':
        return this.processEvents(true, false);
      case 'processEvents':
        return this.processEvents(false, step.again);
    }
  }

  async processEvents(cancelAll: boolean, again: boolean): Promise<void> {
    // A repeated call takes and moves nothing.
    const {
      wasCanceled: _,
      moved,
      moreMoved,
      ...first
    } = await this.engine.processPendingEvents(this.batch, cancelAll);
    expect(moved?.length).not.toBe(0);
    if (again) expect(await this.engine.processPendingEvents(this.batch, cancelAll)).toEqual(first);
    this.model.processPendingEvents(this.clock.now().getTime(), cancelAll);
    await this.compare(first);
  }

  /** The process dies inside a call; what it did not finish never was. */
  async #crash(statements: number): Promise<void> {
    const before = await childrenOf(db, this.group);
    const settings = { expiryDays: EXPIRY_DAYS };
    const dying = createEngine({
      db,
      genericPlanDb: dyingAfter(database.persistence.genericPlanDb, statements),
      clock: this.clock,
      settings,
    });
    const survived = await dying.processPendingEvents(this.batch, false).then(
      () => true,
      (error: Error) => {
        if (error.message !== 'killed') throw error;
        return false;
      },
    );
    if (survived) this.model.processPendingEvents(this.clock.now().getTime(), false);
    else expect(await childrenOf(db, this.group)).toEqual(before);
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
         failed_count as failed, canceled_count as canceled, status, delivery_time, completion_time
       from activity where id = $1`,
      [this.group],
    );
    const ends = rows.map((row) => row.completion_time?.getTime() ?? 0);
    const ended = counts.open === 0 ? new Date(Math.max(...ends)) : null;
    const deliveries = rows.flatMap((row) => row.delivery_time?.getTime() ?? []);
    const startedAt = deliveries.length > 0 ? new Date(Math.min(...deliveries)) : null;
    expect(parent).toEqual({ ...counts, delivered, status, delivery_time: startedAt, completion_time: ended });
  }

  async #deliver(id: number): Promise<void> {
    const operation = this.model.operations.get(id)!;
    if (operation.message !== 'queued' || operation.deliverAtMs > this.clock.now().getTime()) return;
    await db.query(`update agent_message set state = 'sent' where activity_id = $1 and state = 'queued'`, [id]);
    operation.message = 'sent';
    await this.#addEvent({ activity: id, kind: 'delivered' });
  }

  async #addEvent(event: { activity: number | null; kind: 'delivered' | 'result' | 'gone' | 'cancel'; ok?: boolean }) {
    const row = { ...event, batch: this.batch, at: this.clock.now() };
    this.model.inbox.push(row);
    await addEvent(db, row);
  }
}

const scenario = {
  computers: fc.integer({ min: 1, max: 4 }),
  dependencies: fc.array(fc.option(fc.nat(3), { freq: 4 }), { maxLength: 3 }),
};
const walk = (length: number) => fc.array(step, { minLength: 5, maxLength: length });

async function finish(trial: Trial): Promise<void> {
  await trial.processEvents(false, true);
  await trial.processEvents(true, true);
  expect(trial.model.counts().open).toBe(0);
  expect(await db.query('select from agent_inbox where lane_id = $1', [trial.batch])).toEqual([]);
}

describe('processEvents', () => {
  it('does what the model does, whatever comes in which order, and keeps every counter a recount', async () => {
    await fc.assert(
      fc.asyncProperty(fc.record({ ...scenario, steps: walk(30) }), async ({ computers, dependencies, steps }) => {
        const trial = new Trial();
        await trial.start(computers, dependencies);
        for (const one of steps) await trial.run(one);
        await finish(trial);
      }),
      { seed: seedOr(20_261_121), numRuns: 120 },
    );
  }, 120_000);
});

/** Status of what undoes an operation, by the rows of the undoing. */
async function undoings(group: number): Promise<Map<number, string>> {
  const rows = await db.query<{ origin: number; status: string }>(
    `select r.reverts as origin, r.status from activity r join activity a on a.id = r.reverts
     where a.parent_id = $1 and r.parent_id is not null order by r.id`,
    [group],
  );
  return new Map(rows.map(({ origin, status }) => [origin, status]));
}

describe('reapply and revert', () => {
  it('create what the model has, which then moves as any other, and undo nothing twice', async () => {
    const caller = await administratorOf(db, account);
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          ...scenario,
          first: walk(20),
          more: fc.array(fc.record({ revert: fc.boolean(), steps: walk(15) }), { maxLength: 3 }),
        }),
        async ({ computers, dependencies, first, more }) => {
          const trial = new Trial();
          await trial.start(computers, dependencies);
          for (const one of first) await trial.run(one);
          await finish(trial);
          for (const { revert, steps } of more) {
            const { clock, group, model } = trial;
            const repeats = createActivityRepeatsService({ db, clock, settings: { ...SETTINGS, ...ONE_BATCH } });
            const made = await undoings(group);
            const inForce = [...model.operations.values()].filter(
              ({ id, status }) => status === 'succeeded' && ['failed', 'canceled', undefined].includes(made.get(id)),
            );
            const allowed = !revert || inForce.length > 0;
            const repeat = () =>
              repeats[revert ? 'revert' : 'reapply'](caller, [group, group], { after: null, traceparent: null });
            if (!allowed) {
              await expect(repeat()).rejects.toThrow(`Cannot revert activity ${group}`);
              continue;
            }
            const results = await Promise.allSettled(revert ? [repeat(), repeat()] : [repeat()]);
            const [won, ...others] = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
            expect([won!.length, others.length]).toEqual([1, 0]);
            const next = new Trial(clock);
            await next.follow(won![0]!);
            const shape = ({ computerId, blockedBy }: ModelOperation) => [computerId, blockedBy !== null && !revert];
            const expected = (revert ? inForce : [...model.operations.values()]).map(shape);
            expect([...next.model.operations.values()].map(shape)).toEqual(expected);
            for (const one of steps) await next.run(one);
            await finish(next);
          }
        },
      ),
      { seed: seedOr(20_261_122), numRuns: 40 },
    );
  }, 120_000);
});
