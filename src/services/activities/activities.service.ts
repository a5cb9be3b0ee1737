import { isCancelable } from '../../domain/activities/eligibility.ts';
import { ACTIVITY_TYPES } from '../../domain/activities/kinds.ts';
import {
  type ActivityRow,
  findActivities,
  listActivities,
  listChildren,
  listParents,
} from '../../persistence/activities/activities.sql.ts';
import {
  approveGroups,
  approveOperations,
  readCancelRequested,
} from '../../persistence/activities/activity-approval.sql.ts';
import {
  type ActivityState,
  findTaggedActivity,
  readActivityStates,
} from '../../persistence/activities/activity-tags.sql.ts';
import { cancelActivities, readPendingEnds } from '../../persistence/activities/activity-cancel.sql.ts';
import { type ComputerOperations, listComputerActivities } from '../../persistence/activities/activity-pages.sql.ts';
import { queueMessages } from '../../persistence/activities/agent-messages.sql.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import { wakeWaiting } from '../../persistence/engine/prior-activities.sql.ts';
import { recordEvents } from '../../persistence/events/events.sql.ts';
import type { ActivityScope } from '../../persistence/query/activity-visibility.ts';
import { JoinedReads, type Tagged } from '../common/conditional.ts';
import type { Caller, Clock } from '../common/ports.ts';
import { prepareActivityQuery } from '../query/activity-queries.ts';
import { type ActivityChoice, lockChosen } from './activity-choice.ts';
import { requireActivities, requireEligible, sameReason, scopeOf, unknownActivities } from './activity-rights.ts';
import { type DetailedActivity, toBaseActivity, toDetailedActivity } from './displayed-activities.ts';
import { requireVisible } from './targets.ts';

/** Lists may contain a thousand groups of any size; single activities are returned with all children. */
const LISTED_CHILDREN = 100;

export type ActivitiesService = ReturnType<typeof createActivitiesService>;

/** `genericPlanDb` reads single activities, which clients poll: planning costs several times the execution. */
export function createActivitiesService(deps: { db: Database; genericPlanDb: Sql; clock: Clock }) {
  const { db, genericPlanDb, clock } = deps;
  const states = new JoinedReads<ActivityState[]>();
  const reads = new JoinedReads<Tagged<DetailedActivity> | null>();
  return {
    /** Newest first. @throws {DomainError} InvalidQueryError @see docs/api-conventions.md#activity-selectors */
    async list(caller: Caller, query: string, page: PageRequest) {
      const scope = scopeOf(caller);
      const selection = await prepareActivityQuery(deps, caller.accountId, query);
      const { count, rows } = await listActivities(db, scope, selection, page);
      return { count, results: await withChildren(db, scope, rows, selection.now) };
    },
    /** As `list`, only operations on the given computers, and their groups. @throws {DomainError} UnknownComputer */
    async listOfComputers(caller: Caller, which: ComputerOperations, page: PageRequest) {
      await requireVisible(db, caller, which.computers);
      const { count, ids } = await listComputerActivities(db, caller.accountId, which, page);
      const scope = scopeOf(caller);
      const now = clock.now();
      const rows = await findActivities(db, scope, ids, now);
      const newestFirst = rows.toSorted((a, b) => b.id - a.id);
      return { count, results: await withChildren(db, scope, newestFirst, now) };
    },
    /** As `list`, without the operations of groups. @throws {DomainError} InvalidQueryError */
    async listParents(caller: Caller, query: string, page: PageRequest) {
      const selection = await prepareActivityQuery(deps, caller.accountId, query);
      const { count, rows } = await listParents(db, scopeOf(caller), selection, page);
      return { count, results: rows.map((row) => toBaseActivity(row, selection.now)) };
    },
    /**
     * One activity with all its children, and its entity tag; null when that is among the `known` ones, which costs a
     * fraction. Calls at the same time share statements. @throws {DomainError} UnknownActivity
     */
    async read(caller: Caller, id: number, known: readonly string[] | null): Promise<Tagged<DetailedActivity>> {
      const scope = scopeOf(caller);
      const key = JSON.stringify([id, scope]);
      if (known !== null) {
        const [state] = await states.join(JSON.stringify([key, known]), () =>
          readActivityStates(genericPlanDb, scope, [id], known, clock.now()),
        );
        if (!state) throw unknownActivities([id]);
        if (known.includes(state.tag)) return { tag: state.tag, value: null };
      }
      const found = await reads.join(key, async () => {
        const now = clock.now();
        const tagged = await findTaggedActivity(genericPlanDb, scope, id, now);
        return tagged && { tag: tagged.tag, value: toDetailedActivity(tagged.row, tagged.children, now) };
      });
      if (!found) throw unknownActivities([id]);
      return found;
    },
    /** What a call that creates an activity returns, as it is now; null when it is not visible. */
    async readBase(caller: Caller, id: number) {
      const now = clock.now();
      const [row] = await findActivities(db, scopeOf(caller), [id], now);
      return row ? toBaseActivity(row, now) : null;
    },
    /**
     * All or none. Returns ids in the requested order, newest first for a query.
     * @throws {DomainError} UnknownActivity, Forbidden, InvalidQueryError; ActivityNotEligible when ended
     * @see docs/api-conventions.md#cancel-approve-reapply-revert
     */
    cancel: (caller: Caller, choice: ActivityChoice, traceparent: string | null) =>
      act(deps, caller, choice, 'cancel', async (tx, ids, rows) => {
        const ended = rows.filter((row) => !isCancelable(row.status)).map((row) => row.id);
        // Ids of activities that have ended are an error; a query only matches open ones.
        if ('ids' in choice) ended.push(...(await readPendingEnds(tx, ids)));
        requireEligible('cancel', sameReason(ended, 'has already ended'));
        const roots = withoutChildren(rows);
        const groups = roots.filter((row) => row.computer_id === null).map((row) => row.id);
        const operations = roots.filter((row) => row.computer_id !== null).map((row) => row.id);
        const { accountId } = caller;
        await cancelActivities(tx, { accountId, groups, operations, now: clock.now(), text: null, traceparent });
        return 'Canceled';
      }),
    /** Returns as `cancel`. @throws {DomainError} UnknownActivity, Forbidden, ActivityNotEligible, InvalidQueryError */
    approve: (caller: Caller, choice: ActivityChoice) =>
      act(deps, caller, choice, 'approve', async (tx, ids, rows) => {
        const others = rows.filter((row) => row.status !== 'unapproved').map((row) => row.id);
        requireEligible('approve', sameReason(others, 'needs no approval'));
        requireEligible('approve', sameReason(await readCancelRequested(tx, ids), 'is being canceled'));
        await approveActivities(tx, ids, clock.now());
        return 'Approved';
      }),
    /** In alphabetical order. @see docs/api-conventions.md#types-and-summaries */
    types: () => ACTIVITY_TYPES,
  };
}

async function withChildren(db: Sql, scope: ActivityScope, rows: readonly ActivityRow[], now: Date) {
  const parents = rows.filter((row) => row.children_count > 0).map((row) => row.id);
  const children = await listChildren(db, scope, parents, LISTED_CHILDREN, now);
  return rows.map((row) => {
    const not_reverted = row.not_reverted?.slice(0, LISTED_CHILDREN) ?? null;
    return toDetailedActivity({ ...row, not_reverted }, children.get(row.id) ?? [], now);
  });
}

function act(
  { db, clock }: { db: Database; clock: Clock },
  caller: Caller,
  choice: ActivityChoice,
  verb: 'cancel' | 'approve',
  change: (tx: Sql, ids: readonly number[], rows: readonly ActivityRow[]) => Promise<string>,
): Promise<number[]> {
  return db.transaction(async (tx) => {
    const ids = await lockChosen(tx, clock, caller, choice);
    if (ids.length === 0) return [];
    const rows = await requireActivities(tx, caller, ids, verb, clock.now());
    const done = await change(tx, ids, rows);
    const named = withoutChildren(rows).toSorted((a, b) => a.id - b.id);
    const events = named.map(({ id, summary }) => ({
      entityType: 'Activity' as const,
      entityId: id,
      entityName: summary,
      message: `${done} the activity "${summary}"`,
    }));
    await recordEvents(tx, caller, events);
    return ids;
  });
}

/**
 * Approves groups and operations: those with unfinished prior ones keep waiting, others are queued if their batch is
 * open. `tx` holds the batch locks. Idempotent. @see docs/api-conventions.md#activity-statuses
 */
async function approveActivities(tx: Sql, activities: readonly number[], now: Date): Promise<void> {
  const approved = await approveOperations(tx, activities, now);
  const opened = approved.filter((operation) => operation.opened);
  for (const [batch, rows] of Map.groupBy(opened, ({ lane_id }) => lane_id)) {
    await queueMessages(tx, { batch, operations: rows.map(({ id }) => id), now });
  }
  const awaited = new Set(approved.flatMap(({ after }) => after ?? []));
  if (awaited.size > 0) await wakeWaiting(tx, [...awaited], now);
  await approveGroups(tx, activities, now);
}

function withoutChildren(rows: readonly ActivityRow[]): ActivityRow[] {
  const ids = new Set(rows.map(({ id }) => id));
  return rows.filter((row) => row.parent_id === null || !ids.has(row.parent_id));
}
