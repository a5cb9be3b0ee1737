import { ACTIVITY_GROUP } from '../../domain/activities/kinds.ts';
import { SANITIZE_REQUEST, sanitizeMessage } from '../../domain/computers/sanitizing.ts';
import { readBaseActivity } from '../../persistence/activities/activities.sql.ts';
import {
  type Cancellation,
  cancelActivities,
  lockBatchesOf,
} from '../../persistence/activities/activity-cancel.sql.ts';
import { createGroup, type OperationTemplate } from '../../persistence/activities/activity-creation.repository.ts';
import {
  findArchiveActivity,
  findComputersToRemove,
  findOpenOperations,
  lockAgents,
  markArchived,
  recordRemoved,
  releaseComputers,
  removeComputers,
} from '../../persistence/computers/computer-removal.sql.ts';
import { lockFleetExclusive } from '../../persistence/computers/targets.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { recordEvent, recordEvents } from '../../persistence/events/events.sql.ts';
import { lockRights } from '../../persistence/identity/rights.repository.ts';
import { toBaseActivity } from '../activities/displayed-activities.ts';
import type { ActingDeps } from '../activities/computer-actions.ts';
import { requirePrior } from '../activities/prior-activity.ts';
import { requireTargets } from '../activities/targets.ts';
import { fieldError } from '../common/fields.ts';
import type { Caller } from '../common/ports.ts';
import { recordServerResult } from '../../persistence/engine/pending-events.sql.ts';

/** A computer by id and title, as a safeguard against archiving the wrong one. */
interface NamedComputer {
  id: number;
  title: string;
  traceparent: string | null;
}

type CancelContext = Pick<Cancellation, 'now' | 'traceparent'>;

const ARCHIVE_REQUEST = 'ArchiveComputerRequest';
const ARCHIVED_TEXT = 'The computer was archived.';
const REMOVED_TEXT = 'The computer was removed.';

export type ComputerRemovalService = ReturnType<typeof createComputerRemovalService>;

export function createComputerRemovalService(deps: ActingDeps) {
  const { db, clock } = deps;
  return {
    /**
     * Cancels open operations, deletes the recovery key. Returns an activity of the server; if archived, the earlier.
     * @throws {DomainError} UnknownComputer, Forbidden; InvalidParameter when the title differs
     * @see docs/api-conventions.md#changing-computers
     */
    async archive(caller: Caller, computer: NamedComputer) {
      const now = clock.now();
      return toBaseActivity(await db.transaction((tx) => archive(tx, deps, caller, computer, now)), now);
    },
    /** Makes encrypted volumes permanently unreadable. @throws as `archive`; ComputerArchived, UnknownActivity */
    async sanitize(caller: Caller, computer: NamedComputer & { after: number | null }) {
      const now = clock.now();
      const row = await db.transaction(async (tx) => {
        await requireTargets(tx, caller, [computer.id], 'ManageComputer');
        const { title } = await requireTitle(tx, computer);
        const operation = { type: SANITIZE_REQUEST, summary: 'Sanitize computer', message: sanitizeMessage() };
        const afterActivity = await requirePrior(tx, caller, computer.after, [computer.id], now);
        const group = await createFor(tx, deps, caller, { computer, operation, afterActivity, now });
        await recordEvent(tx, caller, computerEvent(computer.id, title, 'Sanitized'));
        return readBaseActivity(tx, group, now);
      });
      return toBaseActivity(row, now);
    },
    /** `ids` may repeat. Cancels open operations; activities stay. @throws {DomainError} UnknownComputer, Forbidden */
    remove: (caller: Caller, ids: readonly number[], traceparent: string | null) =>
      db.transaction((tx) => remove(tx, caller, [...new Set(ids)], { now: clock.now(), traceparent })),
  };
}

async function archive(tx: Sql, deps: ActingDeps, caller: Caller, computer: NamedComputer, now: Date) {
  const ids = [computer.id];
  await lockFleetExclusive(tx, caller.accountId);
  await requireTargets(tx, caller, ids, 'ManageComputer', { archived: 'allowed' });
  const { title, archived } = await requireTitle(tx, computer);
  const earlier = archived ? await findArchiveActivity(tx, computer.id, ARCHIVE_REQUEST) : null;
  if (earlier !== null) return readBaseActivity(tx, earlier, now);
  await endOperations(tx, caller.accountId, ids, { now, text: ARCHIVED_TEXT, traceparent: computer.traceparent });
  await releaseComputers(tx, ids);
  await markArchived(tx, ids);
  // The message is never sent: the operation gets its result before its workflow starts.
  const operation = {
    type: ARCHIVE_REQUEST,
    summary: 'Archive computer',
    message: { type: 'archive-computer', fields: {} },
  };
  const group = await createFor(tx, deps, caller, { computer, operation, afterActivity: null, now });
  await recordServerResult(tx, group, { ok: true, text: ARCHIVED_TEXT, at: now });
  await recordEvent(tx, caller, computerEvent(computer.id, title, 'Archived'));
  return readBaseActivity(tx, group, now);
}

async function remove(tx: Sql, caller: Caller, ids: readonly number[], context: CancelContext): Promise<void> {
  const { now } = context;
  // Prevents removal of the access group recorded for each of them.
  await lockRights(tx, caller.accountId);
  await lockFleetExclusive(tx, caller.accountId);
  await requireTargets(tx, caller, ids, 'ManageComputer', { archived: 'allowed' });
  await endOperations(tx, caller.accountId, ids, { ...context, text: REMOVED_TEXT });
  const computers = await findComputersToRemove(tx, ids);
  await recordRemoved(tx, ids, now);
  await removeComputers(tx, ids);
  const events = computers.map(({ id, title }) => computerEvent(id, title, 'Removed'));
  await recordEvents(tx, caller, events);
}

/** Cancels all open operations of computers; the fleet lock prevents new ones. Locks agents first, as exchanges do. */
async function endOperations(
  tx: Sql,
  accountId: number,
  computers: readonly number[],
  context: CancelContext & { text: string },
): Promise<void> {
  await lockBatchesOf(tx, accountId, await findOpenOperations(tx, accountId, computers));
  await lockAgents(tx, accountId, computers);
  // Some may have ended while this transaction waited for the locks of their batches.
  const operations = await findOpenOperations(tx, accountId, computers);
  if (operations.length > 0) await cancelActivities(tx, { ...context, accountId, groups: [], operations });
}

async function requireTitle(tx: Sql, { id, title }: NamedComputer) {
  const [computer] = await findComputersToRemove(tx, [id]);
  if (computer!.title === title) return computer!;
  throw fieldError('body.computer_title', 'must be the title of the computer');
}

async function createFor(
  tx: Sql,
  deps: ActingDeps,
  caller: Caller,
  what: { computer: NamedComputer; operation: OperationTemplate; afterActivity: number | null; now: Date },
): Promise<number> {
  const { computer, operation, afterActivity, now } = what;
  return createGroup(
    tx,
    {
      accountId: caller.accountId,
      creatorId: caller.personId,
      type: ACTIVITY_GROUP,
      summary: operation.summary,
      now,
      deliverAfter: null,
      windowMinutes: 0,
      computers: [computer.id],
      afterActivity,
      operations: [operation],
      parameters: { operation: operation.type },
      traceparent: computer.traceparent,
    },
    deps.settings,
  );
}

function computerEvent(id: number, title: string, verb: 'Archived' | 'Sanitized' | 'Removed') {
  return {
    entityType: 'Computer' as const,
    entityId: id,
    entityName: title,
    message: `${verb} the computer ${title}`,
  };
}
