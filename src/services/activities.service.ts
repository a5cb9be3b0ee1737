import { isCancelable } from '../domain/activity/eligibility.ts';
import { DomainError } from '../domain/errors.ts';
import {
  type ActivityRow,
  type ActivityScope,
  findActivities,
  listActivities,
  listChildren,
  listParents,
  type PageRequest,
} from '../persistence/repositories/activities.repository.ts';
import { lockLanesOf, orderCancel } from '../persistence/repositories/activity-cancel.repository.ts';
import { listComputerActivities } from '../persistence/repositories/computer-activities.repository.ts';
import { recordEvents } from '../persistence/repositories/events.repository.ts';
import type { Database } from '../persistence/sql.ts';
import { type DetailedActivity, type ParentActivity, toBaseActivity, toDetailedActivity } from './activity-views.ts';
import type { Caller, Clock } from './ports.ts';
import { requireVisible } from './targets.ts';

export interface ListOf<T> {
  count: number;
  results: T[];
}

export interface ActivitiesService {
  /** Parents and operations alike, newest first; each parent with its first {@link LISTED_CHILDREN} children. */
  list(caller: Caller, page: PageRequest): Promise<ListOf<DetailedActivity>>;
  /** Activities that are nobody's children, newest first. */
  listParents(caller: Caller, page: PageRequest): Promise<ListOf<ParentActivity>>;
  /**
   * As `list`, only operations on some computers and the groups they are in.
   *
   * @throws {DomainError} UnknownComputer
   */
  listOfComputers(caller: Caller, computers: readonly number[], page: PageRequest): Promise<ListOf<DetailedActivity>>;
  /** One activity with all its children. @throws {DomainError} UnknownActivity */
  read(caller: Caller, id: number): Promise<DetailedActivity>;
  /**
   * Cancels activities, all or none: what no computer has is withdrawn before this returns, the rest is canceled until
   * its computer reports.
   *
   * @param ids - repeated ones count once
   * @returns ids in the order asked for
   * @throws {DomainError} UnknownActivity, Forbidden, ActivityNotEligible when one has ended
   * @see api-decisions 4.7
   */
  cancel(caller: Caller, ids: readonly number[]): Promise<number[]>;
}

/** A list may hold a thousand groups of any size; the page of one activity has all its children. */
export const LISTED_CHILDREN = 100;

/** Makes the service. */
export function createActivitiesService(deps: { db: Database; clock: Clock }): ActivitiesService {
  const { db, clock } = deps;
  return {
    async list(caller, page) {
      const scope = scopeOf(caller);
      const { count, rows } = await listActivities(db, scope, page);
      return { count, results: await withChildren(deps, scope, rows) };
    },
    async listOfComputers(caller, computers, page) {
      await requireVisible(db, caller, computers);
      const { count, ids } = await listComputerActivities(db, caller.accountId, computers, page);
      const scope = scopeOf(caller);
      const rows = await findActivities(db, scope, ids);
      const newestFirst = rows.toSorted((a, b) => b.id - a.id);
      return { count, results: await withChildren(deps, scope, newestFirst) };
    },
    async listParents(caller, page) {
      const { count, rows } = await listParents(db, scopeOf(caller), page);
      const now = clock.now();
      return { count, results: rows.map((row) => toBaseActivity(row, now)) };
    },
    async read(caller, id) {
      const scope = scopeOf(caller);
      const [row] = await findActivities(db, scope, [id]);
      if (!row) throw unknownActivities([id]);
      const children = row.children_count > 0 ? await listChildren(db, scope, [id], null) : new Map();
      return toDetailedActivity(row, children.get(id) ?? [], clock.now());
    },
    cancel: (caller, ids) => cancel(deps, caller, [...new Set(ids)]),
  };
}

async function withChildren(
  { db, clock }: { db: Database; clock: Clock },
  scope: ActivityScope,
  rows: readonly ActivityRow[],
): Promise<DetailedActivity[]> {
  const parents = rows.filter((row) => row.children_count > 0).map((row) => row.id);
  const children = await listChildren(db, scope, parents, LISTED_CHILDREN);
  const now = clock.now();
  return rows.map((row) => toDetailedActivity(row, children.get(row.id) ?? [], now));
}

async function cancel(deps: { db: Database; clock: Clock }, caller: Caller, ids: readonly number[]): Promise<number[]> {
  return deps.db.transaction(async (tx) => {
    await lockLanesOf(tx, caller.accountId, ids);
    const rows = await findActivities(tx, scopeOf(caller), ids);
    const found = new Set(rows.map((row) => row.id));
    const missing = ids.filter((id) => !found.has(id));
    if (missing.length > 0) throw unknownActivities(missing);
    const forbidden = rows.filter((row) => !row.manageable).map((row) => row.id);
    if (forbidden.length > 0) throw refuse('Forbidden', 'You may not cancel', forbidden, 'you may not cancel this');
    const ended = rows.filter((row) => !isCancelable(row.status)).map((row) => row.id);
    if (ended.length > 0) throw refuse('ActivityNotEligible', 'Cannot cancel', ended, 'has already ended');
    const groups = rows.filter((row) => row.computer_id === null).map((row) => row.id);
    const operations = rows
      .filter((row) => row.computer_id !== null && !groups.includes(row.parent_id ?? 0))
      .map((row) => row.id);
    await orderCancel(tx, { accountId: caller.accountId, groups, operations, now: deps.clock.now(), text: null });
    await recordEvents(
      tx,
      caller,
      rows
        .toSorted((a, b) => a.id - b.id)
        .map(({ id, summary }) => ({
          entityType: 'Activity',
          entityId: id,
          entityName: summary,
          message: `Canceled the activity "${summary}"`,
        })),
    );
    return [...ids];
  });
}

function scopeOf(caller: Caller): ActivityScope {
  return {
    accountId: caller.accountId,
    view: caller.groups('ViewComputer'),
    manage: caller.groups('ManageComputer'),
  };
}

function unknownActivities(ids: readonly number[]): DomainError {
  return refuse('UnknownActivity', 'There is no', ids, 'there is no such activity');
}

function refuse(
  code: 'UnknownActivity' | 'Forbidden' | 'ActivityNotEligible',
  text: string,
  ids: readonly number[],
  message: string,
): DomainError {
  const details = [...ids].sort((a, b) => a - b).map((id) => ({ id, message }));
  return new DomainError(code, `${text} activity ${details[0]!.id}`, { details });
}
