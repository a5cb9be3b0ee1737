import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toParentResponse } from '../../../src/api/activities/activity-responses.ts';
import { WITHOUT_BLOCKS } from '../../../src/persistence/computers/computers.sql.ts';
import { listComputers } from '../../../src/persistence/computers/computers.sql.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { prepareComputerQuery } from '../../../src/services/query/computer-queries.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import fc, { seedOr } from '../../support/common/random.ts';
import { Recount, readRaw } from './account-recount.ts';
import { AccountTrial } from './account-trial.ts';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
});
afterAll(() => database?.drop());

const verb = fc.constantFrom('cancel' as const, 'approve' as const, 'reapply' as const, 'revert' as const);
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('act' as const),
      of: fc.integer({ min: 1, max: 7 }),
      steps: fc.constantFrom(1, 1, 2),
      oneBatch: fc.boolean(),
      unapproved: fc.constantFrom(false, false, true),
      inHours: fc.constantFrom(0, 0, 6),
      windowHours: fc.constantFrom(0, 0, 6),
      dependsOn: fc.option(fc.nat(99), { freq: 2 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('deliver' as const), limit: fc.integer({ min: 1, max: 6 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('report' as const),
      ok: fc.constantFrom(true, true, false),
      limit: fc.integer({ min: 1, max: 6 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('processEvents' as const), which: fc.constantFrom('all', 'all', 'newest') }),
  },
  { weight: 5, arbitrary: fc.record({ do: verb, pick: fc.nat(99) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('bound' as const), to: fc.constantFrom(null, 0, 1, 2) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('archive' as const, 'remove' as const), pick: fc.nat(99) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.constantFrom(1, 6, 30) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A trial whose every step is followed by a look at all that is counted. */
class CountedTrial {
  readonly #trial: AccountTrial;
  #bound: number | null = null;

  constructor(trial: AccountTrial) {
    this.#trial = trial;
  }

  async run(one: Step): Promise<void> {
    const trial = this.#trial;
    trial.clock.advance(one.do === 'wait' ? one.hours * 3_600_000 : 1000);
    switch (one.do) {
      case 'act': {
        const computers = trial.computers.filter((_, n) => (one.of & (1 << n)) > 0);
        if (computers.length > 0)
          await trial.act({ ...one, computers, after: await this.#groupOn(computers, one.dependsOn) });
        break;
      }
      case 'deliver':
        await this.#deliver(one.limit);
        break;
      case 'report':
        await trial.report(one.ok, one.limit);
        break;
      case 'processEvents':
        await trial.processEvents(one.which);
        if (one.which === 'all') await this.#compareWaiting();
        break;
      case 'bound':
        await trial.setBound(one.to);
        this.#bound = one.to;
        break;
      case 'archive':
      case 'remove': {
        const left = trial.computers;
        if (left.length > 1) await trial.leave(left[one.pick % left.length]!, one.do);
        break;
      }
      case 'wait':
        break;
      default:
        await this.#tryOn(one.do, one.pick);
    }
    await this.compare();
  }

  /** A group that does something on each of some computers. */
  async #groupOn(computers: readonly number[], pick: number | null): Promise<number | null> {
    if (pick === null) return null;
    const { rows } = await this.#read();
    const on = Map.groupBy(rows, ({ parent_id }) => parent_id);
    const fit = rows.filter(({ id }) => computers.every((one) => on.get(id)?.some((row) => row.computer_id === one)));
    return fit.length === 0 ? null : fit[pick % fit.length]!.id;
  }

  /** Computers get what is due in the order of its acceptance, and never more than the bound allows. */
  async #deliver(limit: number): Promise<void> {
    const { recount } = await this.#read();
    for (const [computer, given] of await this.#trial.deliver(limit, this.#bound)) {
      for (const [place, id] of given.entries()) {
        expect(recount.leftBefore(id)).toEqual(given.slice(0, place));
        expect(recount.isReady(id)).toBe(true);
      }
      const [row] = await db.query<{ sent: number }>(
        `select count(*)::int as sent from agent_message where computer_id = $1 and state = 'sent'`,
        [computer],
      );
      if (given.length > 0) expect(row!.sent).toBeLessThanOrEqual(this.#bound ?? Number.POSITIVE_INFINITY);
    }
  }

  /** Requests what may be allowed or not: the response has to match the activity's `actions`. */
  async #tryOn(verb: 'cancel' | 'approve' | 'reapply' | 'revert', pick: number): Promise<void> {
    const { activities, repeats, caller } = this.#trial;
    const { rows, recount } = await this.#read();
    if (rows.length === 0) return;
    const row = rows[pick % rows.length]!;
    const actions = recount.actionsOf(row);
    const requested =
      verb === 'cancel'
        ? activities.cancel(caller, { ids: [row.id] }, null)
        : verb === 'approve'
          ? activities.approve(caller, { ids: [row.id] })
          : repeats[verb](caller, [row.id], { after: null, traceparent: null });
    const outcome = await requested.then(
      () => 'done',
      (error: { code?: string }) => error.code ?? error,
    );
    const allowed = {
      cancel: actions.cancelable && !recount.isOverAhead(row),
      approve: actions.approvable && !row.cancel_requested,
      reapply: actions.reappliable,
      revert: actions.revertable,
    }[verb];
    expect([verb, row.status, outcome]).toEqual([verb, row.status, allowed ? 'done' : 'ActivityNotEligible']);
  }

  async #read() {
    const { account, removed, clock } = this.#trial;
    const rows = await readRaw(db, account.accountId);
    return { rows, recount: new Recount(rows, removed, clock.now(), this.#bound) };
  }

  async compare(): Promise<void> {
    await this.#compareActivities();
    await this.#compareParents();
    await this.#compareBatches();
    await this.#compareComputers();
  }

  async #compareActivities(): Promise<void> {
    const { rows, recount } = await this.#read();
    const { count, results } = await this.#trial.activities.list(this.#trial.caller, '', { limit: 1000, offset: 0 });
    expect([count, results.map(({ id }) => id)]).toEqual([rows.length, recount.ids]);
    const expected = rows
      .toReversed()
      .map((row) => [row.id, recount.statusOf(row), recount.isCancelRequested(row), recount.actionsOf(row)]);
    expect(results.map((one) => [one.id, one.status, one.cancel_requested, one.actions])).toEqual(expected);
    const byId = new Map(results.map((one) => [one.id, one]));
    for (const child of results.flatMap(({ children }) => children)) {
      const { computer_id, status, cancel_requested } = byId.get(child.id)!;
      const title = this.#trial.titleOf(child.computer_id);
      expect([child.id, child.computer_id, child.computer_title]).toEqual([child.id, computer_id, title]);
      expect([child.id, child.status, child.cancel_requested]).toEqual([child.id, status, cancel_requested]);
    }
    const middle = { limit: 3, offset: Math.floor(rows.length / 2) };
    const page = await this.#trial.activities.list(this.#trial.caller, '', middle);
    expect([page.count, page.results]).toEqual([count, results.slice(middle.offset, middle.offset + 3)]);
  }

  async #compareParents(): Promise<void> {
    const { rows, recount } = await this.#read();
    const { count, results } = await this.#trial.activities.listParents(this.#trial.caller, '', {
      limit: 1000,
      offset: 0,
    });
    expect([count, results.map(({ id }) => id)]).toEqual([recount.parents.length, recount.parents]);
    const seen = results
      .map(toParentResponse)
      .map((row) => [row.children_count, row.children_statuses, row.computer_count, row.cancel_requested]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    const expected = recount.parents.map((parent) => {
      const { size, open, succeeded, failed, canceled, computers } = recount.counts({ parent });
      const requested = recount.isCancelRequested(byId.get(parent)!);
      return [size, { good: succeeded, warning: open, bad: failed + canceled }, computers, requested];
    });
    expect(seen).toEqual(expected);
  }

  async #compareBatches(): Promise<void> {
    const { recount } = await this.#read();
    const batches = await db.query<{ id: number }>(
      `select id, size, open_count as open, succeeded_count as succeeded, failed_count as failed,
         canceled_count as canceled from lane where account_id = $1 order by id`,
      [this.#trial.account.accountId],
    );
    const expected = batches.map(({ id }) => {
      const { delivered, computers, ...counts } = recount.counts({ batch: id });
      return { id, ...counts };
    });
    expect(batches).toEqual(expected);
  }

  /** What waits for another activity waits for nothing that is decided, and only that is canceled. */
  async #compareWaiting(): Promise<void> {
    const { rows, recount } = await this.#read();
    for (const row of rows) {
      if (row.computer_id === null || row.after_activity_id === null || row.status !== 'waiting') continue;
      expect([row.id, recount.isReady(row.id), recount.isLost(row.id)]).toEqual([row.id, false, false]);
    }
  }

  async #compareComputers(): Promise<void> {
    const { account, computers } = this.#trial;
    const filter = { accountId: account.accountId, groups: null, status: 'active' as const, rootOnly: true };
    const selection = await prepareComputerQuery({ db, clock: this.#trial.clock }, account.accountId, '');
    const all = { ...filter, wslParents: false, wslChildren: false, selection };
    const page = { limit: 2, offset: 0, after: null };
    const reads = { db, genericPlanDb: db };
    const first = await listComputers(reads, all, page, WITHOUT_BLOCKS);
    const idsOf = (json: string) => (JSON.parse(json) as Array<{ id: number }>).map(({ id }) => id);
    expect([first.count, idsOf(first.resultsJson)]).toEqual([computers.length, computers.slice(0, 2)]);
    expect(first.nextPage).toEqual(computers.length > 2 ? { after: computers[1] } : null);
    if (!first.nextPage) return;
    const next = await listComputers(reads, all, { ...page, offset: 2, after: first.nextPage.after }, WITHOUT_BLOCKS);
    expect([next.count, idsOf(next.resultsJson)]).toEqual([computers.length, computers.slice(2, 4)]);
  }

  async finish(): Promise<void> {
    const { activities, caller } = this.#trial;
    await this.run({ do: 'processEvents', which: 'all' });
    const { rows, recount } = await this.#read();
    const open = rows.filter((row) => recount.actionsOf(row).cancelable).map(({ id }) => id);
    if (open.length > 0) await activities.cancel(caller, { ids: open }, null);
    await this.run({ do: 'processEvents', which: 'all' });
    await this.run({ do: 'processEvents', which: 'all' });
    const ended = await this.#read();
    expect(ended.rows.filter((row) => ended.recount.actionsOf(row).cancelable)).toEqual([]);
  }
}

describe('everything that is counted in an account', () => {
  it('is what a recount of its rows gives, and every action is allowed exactly where the table does', async () => {
    // A failure prints its seed and path, and the shortest steps that fail.
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30, size: 'max' }), async (steps) => {
        const counted = new CountedTrial(await AccountTrial.start(db, 3));
        for (const one of steps) await counted.run(one);
        await counted.finish();
      }),
      { seed: seedOr(20_261_123), numRuns: 25 },
    );
  }, 300_000);
});
