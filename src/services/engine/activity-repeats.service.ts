import { isReappliable, isRevertable } from '../../domain/activities/eligibility.ts';
import { ACTIVITY_GROUP } from '../../domain/activities/kinds.ts';
import { unreportedPid, unreportedText } from '../../domain/activities/machine-operations.ts';
import { DomainError } from '../../domain/common/errors.ts';
import { EXECUTE_SCRIPT } from '../../domain/scripts/result.ts';
import type { ActivityRow, NotReverted } from '../../persistence/activities/activities.sql.ts';
import { lockBatchesOf } from '../../persistence/activities/activity-cancel.sql.ts';
import {
  createPerComputerGroup,
  type PerComputerGroupPlan,
} from '../../persistence/activities/activity-creation.repository.ts';
import {
  linkReapplied,
  linkReverted,
  readReverted,
  readSourceOperations,
  readSources,
  type SourceActivity,
  type SourceOperation,
} from '../../persistence/activities/activity-repeats.sql.ts';
import { lockFleetShared } from '../../persistence/computers/targets.sql.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import { failUnsent } from '../../persistence/engine/pending-events.sql.ts';
import { recordEvents } from '../../persistence/events/events.sql.ts';
import { lockPayloadScripts } from '../../persistence/scripts/script-redaction.sql.ts';
import type { ActivitySettings } from '../../process/config.ts';
import { requireActivities, requireEligible } from '../activities/activity-rights.ts';
import { subjectOf } from '../activities/displayed-activities.ts';
import { requirePrior } from '../activities/prior-activity.ts';
import { findLostTargets } from '../activities/targets.ts';
import type { Caller, Clock } from '../common/ports.ts';
import { requireRight } from '../scripts/reads.ts';
import { type Draft, repeat, undo } from './activity-repeat-drafts.ts';

export interface ActivityRepeatsService {
  /** All or none; new ids in order. @throws UnknownActivity, Forbidden, ActivityNotEligible, InvalidParameter */
  reapply(caller: Caller, ids: readonly number[], options: RepeatOptions): Promise<number[]>;
  /**
   * All or none, never twice, even concurrently. A new group lists what it omits: operations without success or effect,
   * on lost computers, or in another revert. Duplicate ids are ignored. Returns new ids in order.
   * @throws {DomainError} UnknownActivity, Forbidden; ActivityNotEligible, also when nothing is left; InvalidParameter
   */
  revert(caller: Caller, ids: readonly number[], options: RepeatOptions): Promise<number[]>;
}

interface RepeatOptions {
  after: number | null;
  traceparent: string | null;
}

interface Deps {
  db: Database;
  clock: Clock;
  settings: ActivitySettings;
}

export function createActivityRepeatsService(deps: Deps): ActivityRepeatsService {
  return {
    reapply: (caller, ids, options) =>
      deps.db.transaction(async (tx) => {
        const repetition = await prepare(tx, deps, caller, ids, { ...options, verb: REAPPLY });
        return carryOut(tx, repetition, (source, operations) => repeat(tx, source, operations, repetition));
      }),
    revert: (caller, ids, options) =>
      deps.db.transaction(async (tx) => {
        const repetition = await prepare(tx, deps, caller, ids, { ...options, verb: REVERT });
        return carryOut(tx, repetition, (source, operations, lost) =>
          undo(tx, source, { operations, lost }, repetition.now),
        );
      }),
  };
}

const MAX_OPERATIONS = 500_000;

interface Verb {
  name: 'reapply' | 'revert';
  allows(row: ActivityRow): boolean;
  reason: string;
  done: string;
  link(tx: Sql, source: number, group: number): Promise<void>;
}

const REAPPLY: Verb = {
  name: 'reapply',
  allows: (row) => isReappliable(subjectOf(row)),
  reason: 'has not ended or is of a kind that cannot be repeated',
  done: 'Reapplied',
  link: linkReapplied,
};

const REVERT: Verb = {
  name: 'revert',
  allows: (row) => isRevertable(subjectOf(row)),
  reason: 'has not ended, is of a kind that cannot be undone, or nothing of it is left to undo',
  done: 'Reverted',
  link: linkReverted,
};

interface Repetition extends RepeatOptions {
  caller: Caller;
  verb: Verb;
  ids: readonly number[];
  now: Date;
  settings: ActivitySettings;
}

async function prepare(
  tx: Sql,
  deps: Deps,
  caller: Caller,
  given: readonly number[],
  options: RepeatOptions & { verb: Verb },
): Promise<Repetition> {
  const { verb, after } = options;
  const ids = [...new Set(given)];
  // Keeps computers in place, and makes concurrent requests see each other's groups.
  await lockFleetShared(tx, caller.accountId);
  await lockBatchesOf(tx, caller.accountId, [
    ...ids,
    ...(await readReverted(tx, ids)),
    ...(after === null ? [] : [after]),
  ]);
  const now = deps.clock.now();
  const rows = await requireActivities(tx, caller, ids, verb.name, now);
  const size = rows.reduce((sum, row) => sum + Math.max(1, row.children_count), 0);
  if (size > MAX_OPERATIONS) {
    const message = `must not have more than ${MAX_OPERATIONS} operations together`;
    throw new DomainError('InvalidParameter', `activity_ids ${message}`, {
      details: [{ path: 'body.activity_ids', message }],
    });
  }
  const rejected = rows.filter((row) => !verb.allows(row));
  requireEligible(verb.name, new Map(rejected.map(({ id }) => [id, verb.reason])));
  return { ...options, caller, ids, now, settings: deps.settings };
}

async function carryOut(
  tx: Sql,
  repetition: Repetition,
  draft: (source: SourceActivity, operations: readonly SourceOperation[], lost: ReadonlySet<number>) => Promise<Draft>,
): Promise<number[]> {
  const { caller, verb, ids, now, settings, after, traceparent } = repetition;
  const operations = Map.groupBy(await readSourceOperations(tx, ids), ({ root }) => root);
  const lost = await requireTargetsOf(tx, caller, verb, operations);
  const sources = new Map((await readSources(tx, ids)).map((source) => [source.id, source]));
  const groups: number[] = [];
  const events: string[] = [];
  for (const id of ids) {
    const plan = await draft(sources.get(id)!, operations.get(id) ?? [], lost);
    if (plan.operations.length === 0) requireEligible(verb.name, new Map([[id, verb.reason]]));
    const link = verb.name === 'reapply' ? { reappliedFrom: id } : { reverts: id };
    const who = { accountId: caller.accountId, creatorId: caller.personId };
    const afterActivity = await requirePrior(tx, caller, after, plan.computers, now);
    const group = await createPerComputerGroup(
      tx,
      { ...plan, ...link, ...who, afterActivity, type: ACTIVITY_GROUP, now, deliverAfter: null, traceparent },
      settings,
    );
    await verb.link(tx, id, group);
    await failUnsent(tx, group, unsentSignals(plan), now);
    groups.push(group);
    events.push(`with activity ${group}${restOf(plan, operations.get(id)!.length)}`);
  }
  await recordEvents(
    tx,
    caller,
    ids.map((id, index) => {
      const { summary } = sources.get(id)!;
      const message = `${verb.done} the activity "${summary}" (${id}) ${events[index]}`;
      return { entityType: 'Activity', entityId: id, entityName: summary, message };
    }),
  );
  return groups;
}

/** Indexes, in id order, of signals to unreported processes, never sent. @see docs/api-conventions.md#processes */
function unsentSignals({ operations, messages }: Pick<PerComputerGroupPlan, 'operations' | 'messages'>) {
  const pids = messages.map(unreportedPid);
  const inIdOrder = operations.toSorted((a, b) => a.place - b.place || a.link - b.link);
  return inIdOrder.flatMap(({ message }, index) => {
    const pid = pids[message]!;
    return pid === null ? [] : [{ index, text: unreportedText(pid) }];
  });
}

const NAMED = 20;

function restOf({ notReverted }: Draft, operations: number): string {
  if (!notReverted || notReverted.length === 0) return '';
  const named = notReverted.slice(0, NAMED).map(({ activity_id, reason }) => `${activity_id} (${REASONS[reason]})`);
  const more = notReverted.length - named.length;
  const list = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return `, without ${notReverted.length} of its ${operations} operations: ${list}`;
}

const REASONS: Readonly<Record<NotReverted['reason'], string>> = {
  failed: 'failed',
  canceled: 'canceled',
  computer_gone: 'its computer was removed',
  reverted: 'already reverted',
  unchanged: 'changed nothing',
};

/** Removed and archived computers make activities ineligible; reverts of groups omit them. @returns these computers */
async function requireTargetsOf(
  tx: Sql,
  caller: Caller,
  verb: Verb,
  operations: ReadonlyMap<number, readonly SourceOperation[]>,
): Promise<Set<number>> {
  const all = [...operations.values()].flat();
  const computers = all.map(({ computer_id }) => computer_id);
  const lost = await findLostTargets(tx, caller, computers);
  const needed = verb.name === 'revert' ? all.filter(({ id, root }) => id === root) : all;
  requireEligible(
    verb.name,
    new Map(needed.flatMap(({ root, computer_id }) => (lost.has(computer_id) ? [[root, LOST_TARGET]] : []))),
  );
  const runs = all.filter(({ type }) => type === EXECUTE_SCRIPT);
  await requireScriptsOf(tx, caller, verb, runs);
  return lost;
}

async function requireScriptsOf(tx: Sql, caller: Caller, verb: Verb, runs: readonly SourceOperation[]): Promise<void> {
  if (runs.length === 0) return;
  const payloads = runs.map(({ payload_id }) => payload_id);
  const scripts = await lockPayloadScripts(tx, payloads);
  const wiped = runs.filter(({ payload_id }) => scripts.get(payload_id)?.status === 'redacted');
  requireEligible(verb.name, new Map(wiped.map(({ root }) => [root, 'its script is redacted'])));
  for (const script of scripts.values()) requireRight(caller, script, 'ExecuteScript');
  const computers = runs.map(({ computer_id }) => computer_id);
  const [forbidden] = await findLostTargets(tx, caller, computers, 'ExecuteScript');
  if (forbidden !== undefined) throw new DomainError('Forbidden', `You may not run scripts on computer ${forbidden}`);
}

const LOST_TARGET = 'one of its computers is archived or removed';
