import { expect } from 'vitest';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { awaitActivity } from '../../../src/persistence/engine/prior-activities.sql.ts';
import { firstUnqueued, isDue } from '../../../src/persistence/query/delivery-conditions.ts';
import {
  type ActivitiesService,
  createActivitiesService,
} from '../../../src/services/activities/activities.service.ts';
import {
  createMessageBacklogService,
  type MessageBacklogService,
} from '../../../src/services/activities/message-backlog.service.ts';
import type { Caller } from '../../../src/services/common/ports.ts';
import {
  type ComputerRemovalService,
  createComputerRemovalService,
} from '../../../src/services/computers/computer-removal.service.ts';
import {
  type ActivityRepeatsService,
  createActivityRepeatsService,
} from '../../../src/services/engine/activity-repeats.service.ts';
import { createEngine, type Engine } from '../../../src/services/engine/engine.ts';
import {
  aChain,
  aGroup,
  anAccount,
  ONE_BATCH,
  SETTINGS,
  type TestAccount,
  TestClock,
} from '../../support/activities/activity-rows.ts';
import { administratorOf } from '../../support/http/app.ts';

const EXPIRY_DAYS = 1;

/** What a group of a trial is like. */
interface TrialGroup {
  computers: readonly number[];
  steps: number;
  /** All computers in one batch, instead of a batch for each. */
  oneBatch: boolean;
  /** Waits for somebody's approval. */
  unapproved: boolean;
  /** Hours until it may be delivered; 0: at once. */
  inHours: number;
  /** Each computer gets it at a random moment within so many hours on top. */
  windowHours: number;
  /** Has to succeed on each computer first; null for nothing. */
  after: number | null;
}

/** A fresh account whose activities are made, handed out, reported and ended as API, gateway and workflows do it. */
export class AccountTrial {
  readonly db: Database;
  readonly account: TestAccount;
  readonly caller: Caller;
  readonly clock = new TestClock();
  readonly removed = new Set<number>();
  readonly activities: ActivitiesService;
  readonly repeats: ActivityRepeatsService;
  readonly backlog: MessageBacklogService;
  readonly removal: ComputerRemovalService;
  readonly #engine: Engine;

  private constructor(db: Database, account: TestAccount, caller: Caller) {
    const deps = { db, genericPlanDb: db, clock: this.clock, settings: SETTINGS };
    this.db = db;
    this.account = account;
    this.caller = caller;
    this.activities = createActivitiesService(deps);
    this.repeats = createActivityRepeatsService(deps);
    this.backlog = createMessageBacklogService(deps);
    this.removal = createComputerRemovalService(deps);
    this.#engine = createEngine({ ...deps, settings: { expiryDays: EXPIRY_DAYS } });
  }

  static async start(db: Database, computers: number): Promise<AccountTrial> {
    const account = await anAccount(db, { computers });
    return new AccountTrial(db, account, await administratorOf(db, account));
  }

  get computers(): number[] {
    return this.account.computers.filter((id) => !this.removed.has(id));
  }

  titleOf(computer: number): string {
    return `web-${this.account.computers.indexOf(computer) + 1}`;
  }

  async act(plan: TrialGroup): Promise<void> {
    const { computers, steps, oneBatch, unapproved, inHours, windowHours, after } = plan;
    if (after !== null) {
      const { accountId } = this.account;
      expect(await this.db.transaction((tx) => awaitActivity(tx, accountId, after, computers))).toEqual([]);
    }
    const group = await aGroup(this.db, this.account, {
      computers,
      operations: aChain(steps),
      now: this.clock.now(),
      deliverAfter: inHours === 0 ? null : new Date(this.clock.now().getTime() + inHours * 3_600_000),
      windowMinutes: windowHours * 60,
      afterActivity: after,
      settings: oneBatch ? ONE_BATCH : {},
    });
    if (!unapproved) return;
    await this.db.query(`update activity set status = 'unapproved' where id = $1 or parent_id = $1`, [group]);
  }

  /** Sends what is due, at most so many for each computer. @returns the operations, by computer in their order */
  async deliver(limit: number, bound: number | null): Promise<Map<number, number[]>> {
    const given = new Map<number, number[]>();
    for (const computer of this.account.computers) {
      const rows = await this.db.query<{ activity_id: number }>(DELIVER, [computer, this.clock.now(), limit, bound]);
      given.set(
        computer,
        rows.map(({ activity_id }) => activity_id),
      );
    }
    return given;
  }

  /** Agents report results of what they have, at most so many. */
  async report(ok: boolean, limit: number): Promise<void> {
    await this.db.query(REPORT, [this.account.accountId, this.clock.now(), limit, ok]);
  }

  /** Every batch that may have something to do looks once, or only the newest of them: workers keep no order. */
  async processEvents(which: 'all' | 'newest' = 'all'): Promise<void> {
    const batches = await this.db.query<{ id: number }>(
      `select id from lane l where account_id = $1
         and (open_count > 0 or exists (select from agent_inbox i where i.lane_id = l.id)) order by id`,
      [this.account.accountId],
    );
    for (const { id } of which === 'all' ? batches : batches.slice(-1))
      await this.#engine.processPendingEvents(id, false);
  }

  async setBound(bound: number | null): Promise<void> {
    if (bound === null) await this.backlog.clear(this.caller);
    else await this.backlog.set(this.caller, bound);
  }

  async leave(id: number, how: 'archive' | 'remove'): Promise<void> {
    const title = this.titleOf(id);
    if (how === 'remove') await this.removal.remove(this.caller, [id], null);
    else await this.removal.archive(this.caller, { id, title, traceparent: null });
    this.removed.add(id);
  }
}

const firstOf = firstUnqueued({ computer: '$1::int', account: 'c.account_id', now: '$2::timestamptz' });

const DELIVER = `
  with due as (
    select m.activity_id from computer c join agent_message m on m.computer_id = c.id
    where c.id = $1 and ${isDue('$2')} and (m.activity_id < ${firstOf}) is not false
    order by 1 limit greatest(0, least($3, coalesce($4::int - (
      select count(*) from agent_message where computer_id = $1 and state = 'sent'), 1000)))
  ), sent as (
    update agent_message m set state = 'sent', sent_at = $2, send_count = send_count + 1
    from due where m.activity_id = due.activity_id returning m.activity_id, m.lane_id
  ), pending as (
    insert into agent_inbox (lane_id, activity_id, kind, at) select lane_id, activity_id, 'delivered', $2 from sent)
  select activity_id from sent order by 1`;

const REPORT = `
  with given as (
    select m.activity_id from agent_message m join activity a on a.id = m.activity_id
    where a.account_id = $1 and m.state = 'sent' order by 1 limit $3 for update of m
  ), acked as (
    update agent_message m set state = 'acked' from given where m.activity_id = given.activity_id
    returning m.activity_id, m.lane_id)
  insert into agent_inbox (lane_id, activity_id, kind, ok, code, body, at)
  select lane_id, activity_id, 'result', $4, 0, 'done', $2::timestamptz from acked`;
