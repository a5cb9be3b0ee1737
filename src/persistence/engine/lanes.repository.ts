import { type ActivityStatus, isFinal } from '../../domain/activities/status.ts';
import { DAY_MS } from '../../domain/common/durations.ts';
import type { GroupProgress, LanePlan, LaneProgress } from '../../domain/engine/progress.ts';
import { countDifference } from '../../domain/engine/roll-up.ts';
import type { ActivitySettings } from '../../process/config.ts';
import { queueMessages, withdrawMessages } from '../activities/agent-messages.repository.ts';
import { recordPackageChanges } from '../activities/package-changes.repository.ts';
import { recordAuditProgress } from '../compliance/usg-audits.repository.ts';
import type { Database, Sql } from '../database/sql.ts';
import { isOpen } from '../database/status-sql.ts';
import { cancelOpenedLanes, readGroup, readOpenLanes, readUnopenedLanes } from './lane-groups.ts';
import { earliest, nextMoment } from './lane-moments.ts';
import {
  applyNews,
  byText,
  type CancelRequest,
  type Change,
  cancelBehind,
  cancelOperations,
  expireOverdue,
  NEWS_LIMIT,
  type Released,
  releaseDependents,
} from './lane-news.ts';
import { moveParent } from './lane-parents.ts';
import { settleWaiting, wakeWaiting } from './prior-activities.repository.ts';

export interface LaneStoreOptions {
  db: Database;
  clock: { now(): Date };
  settings: Pick<ActivitySettings, 'expiryDays'>;
  /** Told of every lane that was moved: how many news it settled, and whether its last operation ended just now. */
  onAdvance?(events: number, closed: boolean): void;
}

/**
 * The one place that moves operations after their creation.
 *
 * @remarks Every call is one transaction per lane under the lane's row lock, starts from the rows as they are and can
 * run again at any time. Lock order: lane, messages, own rows, the parent last.
 * @see docs/architecture.md#processing-pending-events
 */
export interface LaneStore {
  /** Whose turn a lane's steps take. */
  turnOf(lane: number): Promise<LaneTurn>;
  /**
   * Settles all news of a lane and opens it on the first call.
   *
   * @param cancelAll - also cancel everything still open
   * @returns how the lane stands, read from its rows; `nextDueAt` is now when news is left over. A lane without a row
   * has nothing open
   */
  advance(lane: number, cancelAll: boolean): Promise<LaneProgress>;
  /** The lanes of a group that still have open operations, in order. */
  begin(activity: number): Promise<LanePlan[]>;
  /**
   * How a group stands, read from its row; with `cancelAll` lanes that were never opened are cancelled first, and the
   * opened ones are told to cancel.
   *
   * @throws when there is no such activity
   */
  settle(activity: number, cancelAll: boolean): Promise<GroupProgress>;
  /** Settles news of a lane whose workflow has ended; results may replace `canceled`. */
  applyLate(lane: number): Promise<LaneProgress>;
}

/** Lanes take turns by account, the small ones apart from the large. */
export interface LaneTurn {
  account: number;
  isLarge: boolean;
}

/** A lane of more operations moves thousands of rows at a step. */
const SMALL_LANE = 25;

interface LaneCounts {
  open_count: number;
  succeeded_count: number;
  failed_count: number;
  canceled_count: number;
  next_due_at: Date | null;
}

interface LaneRow extends LaneCounts {
  id: number;
  parent_id: number | null;
  has_dependents: boolean;
  answer_seconds: number | null;
  /** What its operations wait for; null for nothing. */
  after_activity_id: number | null;
  /** Operations of other lanes wait for some of it. */
  awaited: boolean;
  opened_at: Date | null;
  /** Run of a USG profile that it belongs to. */
  usg_run_id: number | null;
}

interface Advanced extends LaneProgress {
  events: number;
  closed: boolean;
}

/** No timer is set further ahead; a lane that wakes early only looks. */
const LONGEST_WAIT_MS = 365 * DAY_MS;

/** Computers are named once so few are open: three names of thousands tell nothing, and finding them is a walk. */
const NAMED_UP_TO = 100;

const NOTHING: LaneProgress = { open: 0, succeeded: 0, failed: 0, canceled: 0, nextDueAt: null, waitingFor: [] };

/** Makes the store; it keeps no state of its own. */
export function createLaneStore(options: LaneStoreOptions): LaneStore {
  const { db } = options;
  const advance = async (lane: number, cancelAll: boolean): Promise<LaneProgress> => {
    const { events, closed, ...progress } = await db.transaction((tx) => advanceLane(tx, lane, cancelAll, options));
    options.onAdvance?.(events, closed);
    if (progress.open > 0 && progress.open <= NAMED_UP_TO) Object.assign(progress, await readWaiting(db, lane));
    return progress;
  };
  return {
    async turnOf(lane) {
      const [row] = await db.query<LaneTurn & Record<string, unknown>>(TURN, [lane, SMALL_LANE], 'lane-turn');
      return row ?? { account: 0, isLarge: false };
    },
    advance,
    begin: (activity) => readOpenLanes(db, activity),
    async settle(activity, cancelAll) {
      if (cancelAll) {
        const unopened = await readUnopenedLanes(db, activity);
        for (const lane of unopened) await db.transaction((tx) => advanceLane(tx, lane, true, options));
        await cancelOpenedLanes(db, activity, options.clock.now());
      }
      return readGroup(db, activity);
    },
    applyLate: (lane) => advance(lane, false),
  };
}

async function advanceLane(tx: Sql, id: number, cancelAll: boolean, options: LaneStoreOptions): Promise<Advanced> {
  const [lane] = await tx.query<LaneRow & Record<string, unknown>>(LOCK, [id], 'lane-lock');
  if (!lane) return { ...NOTHING, events: 0, closed: false };
  const now = options.clock.now();
  const patience = { expiryDays: options.settings.expiryDays, answerSeconds: lane.answer_seconds };
  const news = await applyNews(tx, id, now);
  const changes = [...news.changes];
  const changed = changes.flatMap(({ to, packageIds }) => (to === 'succeeded' ? (packageIds ?? []) : []));
  if (changed.length > 0) await recordPackageChanges(tx, changed);
  const delivered = news.changes.filter(({ to }) => to === 'delivered');
  const deliveries = delivered.map(({ deliveredAt }) => deliveredAt && Math.max(deliveredAt, now.getTime()));
  const known = earliest(lane.next_due_at, deliveries, [], patience);
  // What was not read yet may hold the answer: nothing is overdue before.
  const due = known !== null && known <= now && news.consumed < NEWS_LIMIT;
  if (due) {
    changes.push(...(await expireOverdue(tx, id, now, patience)));
  }
  changes.push(...(await cancel(tx, lane, news.cancels, cancelAll, now)));
  const released = lane.has_dependents ? await moveChains(tx, lane, changes, now) : [];
  if (lane.awaited) await wakeWaiting(tx, awaitedIn(lane, changes), now);
  const operations = lane.opened_at === null ? null : released.map((step) => step.id);
  await queueMessages(tx, { lane: id, operations, now });
  if (lane.usg_run_id !== null) await recordAuditProgress(tx, lane.usg_run_id, changes, now);
  const nextDue =
    due || lane.opened_at === null
      ? await nextMoment(tx, id, now, patience, due)
      : earliest(known, [], momentsAfter(now, released), patience);
  const counts = await recordCounts(tx, lane, changes, nextDue, now);
  const moved = { events: news.consumed, closed: lane.open_count > 0 && counts.open === 0 };
  const wasCanceled = news.cancels.some(isOfWholeLane);
  return {
    ...counts,
    ...moved,
    ...(news.consumed >= NEWS_LIMIT && { nextDueAt: now.getTime() }),
    ...(wasCanceled && { wasCanceled }),
  };
}

async function cancel(
  tx: Sql,
  lane: LaneRow,
  requests: readonly CancelRequest[],
  cancelAll: boolean,
  now: Date,
): Promise<Change[]> {
  if (requests.length === 0 && !cancelAll) return [];
  const changes: Change[] = [];
  // Before the rest of the lane, which may have to say nothing or something else.
  for (const [text, ids] of byText(requests)) {
    changes.push(...(await cancelOperations(tx, lane.id, ids, now, text)));
  }
  const whole = requests.find(isOfWholeLane);
  if (whole || cancelAll) {
    changes.push(...(await cancelOperations(tx, lane.id, null, now, whole?.text ?? null)));
  }
  await withdrawMessages(tx, idsOf(changes));
  return changes;
}

function isOfWholeLane({ activity }: CancelRequest): boolean {
  return activity === null;
}

function idsOf(changes: readonly Change[], status?: ActivityStatus): number[] {
  return changes.filter(({ to }) => status === undefined || to === status).flatMap(({ ids }) => ids);
}

function momentsAfter(now: Date, released: readonly Released[]): Date[] {
  return released.map(({ deliver_at }) => deliver_at).filter((moment) => moment > now);
}

async function moveChains(tx: Sql, lane: LaneRow, changes: Change[], now: Date): Promise<Released[]> {
  const failed = idsOf(changes, 'failed');
  if (failed.length > 0) changes.push(...(await cancelBehind(tx, lane.id, failed, now)));
  const succeeded = idsOf(changes, 'succeeded');
  const released = succeeded.length === 0 ? [] : await releaseDependents(tx, lane.id, succeeded, now);
  if (lane.after_activity_id === null) return released;
  const waiting = await settleWaiting(tx, lane.id, lane.after_activity_id, now);
  changes.push(...waiting.canceled);
  return [...released, ...waiting.released];
}

/** What others may wait for of which something has just ended: operations and their group. */
function awaitedIn({ parent_id }: LaneRow, changes: readonly Change[]): number[] {
  const ended = changes.filter(({ to }) => isFinal(to)).flatMap(({ ids }) => ids);
  return ended.length === 0 || parent_id === null ? ended : [parent_id, ...ended];
}

async function recordCounts(
  tx: Sql,
  lane: LaneRow,
  changes: readonly Change[],
  nextDue: Date | null,
  now: Date,
): Promise<LaneProgress> {
  if (changes.length === 0 && lane.opened_at !== null && nextDue?.getTime() === lane.next_due_at?.getTime()) {
    return progressOf(lane, lane.has_dependents, now);
  }
  const difference = countDifference(changes);
  const [row] = await tx.query<LaneCounts & Record<string, unknown>>(
    MOVE_LANE,
    [lane.id, difference.open, difference.succeeded, difference.failed, difference.canceled, now, nextDue],
    'lane-move',
  );
  // What was cancelled moves no counter when its delivery comes to be known, and yet its group has begun.
  const isNews = Object.values(difference).some((value) => value !== 0) || changes.some((change) => change.deliveredAt);
  if (lane.parent_id !== null && isNews) {
    await moveParent(tx, lane.parent_id, difference, changes, now);
  }
  return progressOf(row!, lane.has_dependents, now);
}

function progressOf(lane: LaneCounts, chained: boolean, now: Date): LaneProgress {
  return {
    open: lane.open_count,
    succeeded: lane.succeeded_count,
    failed: lane.failed_count,
    canceled: lane.canceled_count,
    chained,
    nextDueAt: lane.next_due_at && Math.min(lane.next_due_at.getTime(), now.getTime() + LONGEST_WAIT_MS),
    waitingFor: [],
  };
}

/** Names the first computers that have something open; each counts once, whatever it has to do. */
async function readWaiting(db: Sql, lane: number): Promise<Pick<LaneProgress, 'waitingFor' | 'moreWaiting'>> {
  const rows = await db.query<{ title: string; computers: number }>(WAITING, [lane]);
  const computers = rows[0]?.computers ?? 0;
  return { waitingFor: rows.map(({ title }) => title), moreWaiting: computers - rows.length };
}

const LOCK = `
  select l.id, l.parent_id, l.open_count, l.succeeded_count, l.failed_count, l.canceled_count,
    l.has_dependents, l.answer_seconds, l.after_activity_id, l.awaited, l.opened_at, l.next_due_at, l.usg_run_id
  from lane l where l.id = $1 for update`;

const TURN = `select account_id as account, size > $2 as "isLarge" from lane where id = $1`;

const MOVE_LANE = `
  update lane set open_count = open_count + $2, succeeded_count = succeeded_count + $3,
    failed_count = failed_count + $4, canceled_count = canceled_count + $5,
    opened_at = coalesce(opened_at, $6),
    closed_at = case when open_count + $2 = 0 then coalesce(closed_at, $6) end,
    next_due_at = case when open_count + $2 = 0 then null else $7::timestamptz end
  where id = $1
  returning open_count, succeeded_count, failed_count, canceled_count, next_due_at`;

// The lane's rows first: an order with a limit invites a walk along the primary key of all activities.
const WAITING = `
  with waiting as materialized (
    select min(a.id) as first, a.computer_id from activity a where a.lane_id = $1 and ${isOpen('a.status')}
    group by a.computer_id
  )
  select c.title, (select count(*)::int from waiting) as computers
  from waiting w join computer c on c.id = w.computer_id order by w.first limit 3`;
