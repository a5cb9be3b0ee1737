import { DomainError } from '../../domain/common/errors.ts';
import { groupsOf } from '../../persistence/query/group-scope.ts';
import { editComputer, findEditableComputer } from '../../persistence/computers/computer-edits.repository.ts';
import { findComputer, WITHOUT_BLOCKS } from '../../persistence/computers/computers.sql.ts';
import { recordEvent } from '../../persistence/events/events.sql.ts';
import { lockRights } from '../../persistence/identity/rights.repository.ts';
import type { Database } from '../../persistence/database/sql.ts';
import { MOVE_PERMISSIONS, readTags } from '../common/tag-fields.ts';
import { readLine, fieldError } from '../common/fields.ts';
import { requireAccessGroup } from '../identity/resolve-names.ts';
import type { Caller } from '../common/ports.ts';
import { requireTargets } from '../activities/targets.ts';

interface ComputerChange {
  title?: string | undefined;
  comment?: string | undefined;
  tags?: readonly string[] | undefined;
  accessGroup?: string | undefined;
}

const MAX_COMMENT = 10_000;

export function createComputerEditsService(deps: { db: Database }) {
  return {
    /**
     * Idempotent. Returns the computer as JSON text.
     * @throws {DomainError} UnknownComputer, ComputerArchived, InvalidParameter, UnknownAccessGroup (400); Forbidden,
     * in either group @see docs/api-conventions.md#changing-computers
     */
    edit: (caller: Caller, computerId: number, change: ComputerChange) =>
      deps.db.transaction(async (tx) => {
        const { accountId } = caller;
        // Prevents removal of the access group between the lookup and the move.
        if (change.accessGroup !== undefined) await lockRights(tx, accountId);
        await requireTargets(tx, caller, [computerId], 'ManageComputer');
        const computer = await findEditableComputer(tx, accountId, computerId);
        const checked = checkChange(change, computer.tags);
        const accessGroup =
          change.accessGroup === undefined
            ? undefined
            : await requireAccessGroup(tx, caller, change.accessGroup, MOVE_PERMISSIONS);
        editComputer(tx, computer, { ...checked, accessGroup });
        const parts = describe(change);
        if (parts !== '') {
          await recordEvent(tx, caller, {
            entityType: 'Computer',
            entityId: computerId,
            entityName: computer.title,
            message: `Changed ${parts} of the computer ${computer.title}`,
          });
        }
        const scope = { accountId, groups: groupsOf(caller.groups('ViewComputer')), id: computerId };
        const found = await findComputer(tx, scope, WITHOUT_BLOCKS);
        if (found === null) throw new DomainError('UnknownComputer', 'There is no such computer');
        return found;
      }),
  };
}

function checkChange({ title, comment, tags }: ComputerChange, current: readonly string[]) {
  if (comment !== undefined && [...comment].length > MAX_COMMENT) {
    throw fieldError('body.comment', `must not have more than ${MAX_COMMENT} characters`);
  }
  return {
    title: title === undefined ? undefined : readLine('body.title', title),
    comment,
    // Clients may send back tags that the agent set.
    tags: tags && readTags('body.tags', tags, current),
  };
}

function describe(change: ComputerChange): string {
  const parts = [
    change.title === undefined ? '' : 'the title',
    change.comment === undefined ? '' : 'the comment',
    change.tags === undefined ? '' : 'the tags',
    change.accessGroup === undefined ? '' : `the access group (now ${change.accessGroup})`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}
