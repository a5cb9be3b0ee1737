import { promoteHeldMessages } from '../../src/persistence/repositories/agent-messages.repository.ts';
import { createLaneStore, type LaneStore } from '../../src/persistence/repositories/lanes.repository.ts';
import type { Database } from '../../src/persistence/sql.ts';
import { type ActivitiesService, createActivitiesService } from '../../src/services/activities.service.ts';
import {
  type ActivityRepeatsService,
  createActivityRepeatsService,
} from '../../src/services/activity-repeats.service.ts';
import {
  type ComputerRemovalService,
  createComputerRemovalService,
} from '../../src/services/computer-removal.service.ts';
import { createMessageBacklogService, type MessageBacklogService } from '../../src/services/message-backlog.service.ts';
import type { Caller } from '../../src/services/ports.ts';
import { aChain, aGroup, anAccount, ONE_LANE, SETTINGS, type TestAccount, TestClock } from './activity-rows.ts';
import { administratorOf } from './callers.ts';

const EXPIRY_DAYS = 1;

/** What a group of a trial is like. */
export interface TrialGroup {
  computers: readonly number[];
  steps: number;
  /** All computers in one lane, instead of a lane for each. */
  oneLane: boolean;
  /** Waits for somebody's approval. */
  unapproved: boolean;
  /** Hours until it may be delivered; 0: at once. */
  inHours: number;
  /** Each computer gets it at a random moment within so many hours on top. */
  windowHours: number;
}

/** A fresh account whose activities are made, handed out, answered and ended as API, gateway and workflows do it. */
export class AccountTrial {
  readonly db: Database;
  readonly account: TestAccount;
  readonly caller: Caller;
  readonly clock = new TestClock();
  readonly gone = new Set<number>();
  readonly activities: ActivitiesService;
  readonly repeats: ActivityRepeatsService;
  readonly backlog: MessageBacklogService;
  readonly removal: ComputerRemovalService;
  readonly #lanes: LaneStore;

  private constructor(db: Database, account: TestAccount, caller: Caller) {
    const deps = { db, clock: this.clock, settings: SETTINGS };
    this.db = db;
    this.account = account;
    this.caller = caller;
    this.activities = createActivitiesService(deps);
    this.repeats = createActivityRepeatsService(deps);
    this.backlog = createMessageBacklogService(deps);
    this.removal = createComputerRemovalService(deps);
    this.#lanes = createLaneStore({ db, clock: this.clock, settings: { expiryDays: EXPIRY_DAYS } });
  }

  static async begin(db: Database, computers: number): Promise<AccountTrial> {
    const account = await anAccount(db, { computers });
    return new AccountTrial(db, account, await administratorOf(db, account));
  }

  get computers(): number[] {
    return this.account.computers.filter((id) => !this.gone.has(id));
  }

  async act(plan: TrialGroup): Promise<void> {
    const { computers, steps, oneLane, unapproved, inHours, windowHours } = plan;
    const group = await aGroup(this.db, this.account, {
      computers,
      operations: aChain(steps),
      now: this.clock.now(),
      deliverAfter: inHours === 0 ? null : new Date(this.clock.now().getTime() + inHours * 3_600_000),
      windowMinutes: windowHours * 60,
      settings: oneLane ? ONE_LANE : {},
    });
    if (!unapproved) return;
    await this.db.query(`update activity set status = 'unapproved' where id = $1 or parent_id = $1`, [group]);
  }

  /** Hands out what is queued and due, at most so many. */
  async deliver(limit: number): Promise<void> {
    await this.db.query(DELIVER, [this.account.accountId, this.clock.now(), limit]);
  }

  /** Agents answer what they have, at most so many; queues move up as in an exchange. */
  async report(ok: boolean, limit: number): Promise<void> {
    await this.db.transaction(async (tx) => {
      const rows = await tx.query<{ computer_id: number }>(REPORT, [
        this.account.accountId,
        this.clock.now(),
        limit,
        ok,
      ]);
      await promoteHeldMessages(tx, [...new Set(rows.map(({ computer_id }) => computer_id))], this.clock.now());
    });
  }

  /** Agents have pinged, and their exchanges let up what became due meanwhile. */
  async exchange(): Promise<void> {
    await this.db.transaction((tx) => promoteHeldMessages(tx, this.account.computers, this.clock.now()));
  }

  /** Every lane that may have something to do looks once. */
  async advance(): Promise<void> {
    const lanes = await this.db.query<{ id: number }>(
      `select id from lane l where account_id = $1
         and (open_count > 0 or exists (select from agent_inbox i where i.lane_id = l.id)) order by id`,
      [this.account.accountId],
    );
    for (const { id } of lanes) await this.#lanes.advance(id, false);
  }

  async setBound(bound: number | null): Promise<void> {
    if (bound === null) await this.backlog.clear(this.caller);
    else await this.backlog.set(this.caller, bound);
  }

  async leave(id: number, how: 'archive' | 'remove'): Promise<void> {
    const title = `web-${this.account.computers.indexOf(id) + 1}`;
    if (how === 'remove') await this.removal.remove(this.caller, [id], null);
    else await this.removal.archive(this.caller, { id, title, traceparent: null });
    this.gone.add(id);
  }
}

const due = (state: string, and: string) => `
  due as (
    select m.activity_id from agent_message m join activity a on a.id = m.activity_id
    where a.account_id = $1 and m.state = '${state}' and ${and} order by 1 limit $3 for update of m)`;

const DELIVER = `
  with ${due('queued', 'm.deliver_at <= $2')}, sent as (
    update agent_message m set state = 'sent', sent_at = $2, send_count = send_count + 1
    from due where m.activity_id = due.activity_id returning m.activity_id, m.lane_id)
  insert into agent_inbox (lane_id, activity_id, kind, at) select lane_id, activity_id, 'delivered', $2 from sent`;

const REPORT = `
  with ${due('sent', '$2::timestamptz is not null')}, acked as (
    update agent_message m set state = 'acked' from due where m.activity_id = due.activity_id
    returning m.activity_id, m.lane_id, m.computer_id
  ), told as (
    insert into agent_inbox (lane_id, activity_id, kind, ok, code, body, at)
    select lane_id, activity_id, 'result', $4, 0, 'done', $2 from acked)
  select computer_id from acked`;
