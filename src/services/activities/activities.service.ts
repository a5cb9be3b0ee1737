import { isCancelable } from '../../domain/activities/eligibility.ts';
import { ACTIVITY_TYPES } from '../../domain/activities/kinds.ts';
import {
  type ActivityRow,
  findActivities,
  listActivities,
  listChildren,
  listParents,
} from '../../persistence/activities/activities.repository.ts';
import { readCancelRequested } from '../../persistence/activities/activity-approval.repository.ts';
import { cancelActivities, readPendingEnds } from '../../persistence/activities/activity-cancel.repository.ts';
import { listComputerActivities } from '../../persistence/activities/computer-activities.repository.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import { recordEvents } from '../../persistence/events/events.repository.ts';
import type { ActivityScope } from '../../persistence/query/activity-visibility.ts';
import type { Caller, Clock } from '../common/ports.ts';
import { prepareActivityQuery } from '../query/activity-queries.ts';
import { type ActivityChoice, lockChosen } from './activity-choice.ts';
import { requireActivities, requireEligible, sameReason, scopeOf, unknownActivities } from './activity-rights.ts';
import { type DetailedActivity, type ParentActivity, toBaseActivity, toDetailedActivity } from './activity-views.ts';
import { approveActivities } from './approve-activities.ts';
import { requireVisible } from './targets.ts';

export interface ActivityList<T> {
  count: number;
  results: T[];
}

export interface ActivitiesService {
  /**
   * Groups and operations, newest first; each group with its first {@link LISTED_CHILDREN} children.
   * @param query - empty for no filter
   * @throws {DomainError} InvalidQueryError
   * @see docs/api-conventions.md#activity-selectors
   */
  list(caller: Caller, query: string, page: PageRequest): Promise<ActivityList<DetailedActivity>>;
  /** As `list`, without the operations of groups. @throws {DomainError} InvalidQueryError */
  listParents(caller: Caller, query: string, page: PageRequest): Promise<ActivityList<ParentActivity>>;
  /** As `list`, only operations on the given computers, and their groups. @throws {DomainError} UnknownComputer */
  listOfComputers(
    caller: Caller,
    computers: readonly number[],
    page: PageRequest,
  ): Promise<ActivityList<DetailedActivity>>;
  /** One activity with all its children. @throws {DomainError} UnknownActivity */
  read(caller: Caller, id: number): Promise<DetailedActivity>;
  /**
   * Cancels all of the activities or none: undelivered operations at once, others when their computers report.
   * @param traceparent - W3C trace context of the request
   * @returns ids in the requested order, newest first for a query
   * @throws {DomainError} UnknownActivity, Forbidden, ActivityNotEligible when one has ended; InvalidQueryError
   * @see docs/api-conventions.md#cancel-approve-reapply-revert
   */
  cancel(caller: Caller, choice: ActivityChoice, traceparent: string | null): Promise<number[]>;
  /**
   * Approves all of the activities or none; in a group every operation that needs it.
   * @returns ids in the requested order, newest first for a query
   * @throws {DomainError} UnknownActivity, Forbidden, ActivityNotEligible when one needs no approval or is being
   * canceled; InvalidQueryError
   */
  approve(caller: Caller, choice: ActivityChoice): Promise<number[]>;
  /** In alphabetical order. @see docs/api-conventions.md#types-and-summaries */
  types(): readonly string[];
}

/** Lists may contain a thousand groups of any size; single activities are returned with all children. */
export const LISTED_CHILDREN = 100;

export function createActivitiesService(deps: { db: Database; clock: Clock }): ActivitiesService {
  const { db, clock } = deps;
  return {
    async list(caller, query, page) {
      const scope = scopeOf(caller);
      const selection = await prepareActivityQuery(deps, caller.accountId, query);
      const { count, rows } = await listActivities(db, scope, selection, page);
      return { count, results: await withChildren(db, scope, rows, selection.now) };
    },
    async listOfComputers(caller, computers, page) {
      await requireVisible(db, caller, computers);
      const { count, ids } = await listComputerActivities(db, caller.accountId, computers, page);
      const scope = scopeOf(caller);
      const now = clock.now();
      const rows = await findActivities(db, scope, ids, now);
      const newestFirst = rows.toSorted((a, b) => b.id - a.id);
      return { count, results: await withChildren(db, scope, newestFirst, now) };
    },
    async listParents(caller, query, page) {
      const selection = await prepareActivityQuery(deps, caller.accountId, query);
      const { count, rows } = await listParents(db, scopeOf(caller), selection, page);
      return { count, results: rows.map((row) => toBaseActivity(row, selection.now)) };
    },
    async read(caller, id) {
      const scope = scopeOf(caller);
      const now = clock.now();
      const [row] = await findActivities(db, scope, [id], now);
      if (!row) throw unknownActivities([id]);
      const children = row.children_count > 0 ? await listChildren(db, scope, [id], null, now) : new Map();
      return toDetailedActivity(row, children.get(id) ?? [], now);
    },
    cancel: (caller, choice, traceparent) => cancel(deps, caller, choice, traceparent),
    approve: (caller, choice) => approve(deps, caller, choice),
    types: () => ACTIVITY_TYPES,
  };
}

async function withChildren(
  db: Sql,
  scope: ActivityScope,
  rows: readonly ActivityRow[],
  now: Date,
): Promise<DetailedActivity[]> {
  const parents = rows.filter((row) => row.children_count > 0).map((row) => row.id);
  const children = await listChildren(db, scope, parents, LISTED_CHILDREN, now);
  return rows.map((row) => {
    const not_reverted = row.not_reverted?.slice(0, LISTED_CHILDREN) ?? null;
    return toDetailedActivity({ ...row, not_reverted }, children.get(row.id) ?? [], now);
  });
}

async function cancel(
  deps: { db: Database; clock: Clock },
  caller: Caller,
  choice: ActivityChoice,
  traceparent: string | null,
): Promise<number[]> {
  return deps.db.transaction(async (tx) => {
    const ids = await lockChosen(tx, deps.clock, caller, choice);
    if (ids.length === 0) return [];
    const rows = await requireActivities(tx, caller, ids, 'cancel', deps.clock.now());
    const ended = rows.filter((row) => !isCancelable(row.status)).map((row) => row.id);
    // Ids of activities that have ended are an error; a query only matches open ones.
    if ('ids' in choice) ended.push(...(await readPendingEnds(tx, ids)));
    requireEligible('cancel', sameReason(ended, 'has already ended'));
    const roots = withoutChildren(rows);
    const groups = roots.filter((row) => row.computer_id === null).map((row) => row.id);
    const operations = roots.filter((row) => row.computer_id !== null).map((row) => row.id);
    const { accountId } = caller;
    await cancelActivities(tx, { accountId, groups, operations, now: deps.clock.now(), text: null, traceparent });
    await recordActs(tx, caller, 'Canceled', rows);
    return ids;
  });
}

async function approve(
  deps: { db: Database; clock: Clock },
  caller: Caller,
  choice: ActivityChoice,
): Promise<number[]> {
  return deps.db.transaction(async (tx) => {
    const ids = await lockChosen(tx, deps.clock, caller, choice);
    if (ids.length === 0) return [];
    const rows = await requireActivities(tx, caller, ids, 'approve', deps.clock.now());
    const others = rows.filter((row) => row.status !== 'unapproved').map((row) => row.id);
    requireEligible('approve', sameReason(others, 'needs no approval'));
    requireEligible('approve', sameReason(await readCancelRequested(tx, ids), 'is being canceled'));
    await approveActivities(tx, ids, deps.clock.now());
    await recordActs(tx, caller, 'Approved', rows);
    return ids;
  });
}

function recordActs(tx: Sql, caller: Caller, done: string, rows: readonly ActivityRow[]): Promise<void> {
  const events = withoutChildren(rows)
    .toSorted((a, b) => a.id - b.id)
    .map(({ id, summary }) => ({
      entityType: 'Activity' as const,
      entityId: id,
      entityName: summary,
      message: `${done} the activity "${summary}"`,
    }));
  return recordEvents(tx, caller, events);
}

/** Removes operations whose group is present. */
function withoutChildren(rows: readonly ActivityRow[]): ActivityRow[] {
  const ids = new Set(rows.map(({ id }) => id));
  return rows.filter((row) => row.parent_id === null || !ids.has(row.parent_id));
}
