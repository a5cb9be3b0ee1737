import { DomainError } from '../../domain/common/errors.ts';
import { groupsOf } from '../../persistence/query/group-scope.ts';
import { findTags, updateComputer } from '../../persistence/computers/computer-edits.repository.ts';
import { WITHOUT_BLOCKS } from '../../persistence/computers/computer-items.ts';
import { findComputer } from '../../persistence/computers/computers.repository.ts';
import { recordEvent } from '../../persistence/events/events.repository.ts';
import { lockRights } from '../../persistence/identity/rights.repository.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import { MOVE_PERMISSIONS, readTags } from '../common/tag-fields.ts';
import { readLine, fieldError } from '../common/fields.ts';
import { requireAccessGroup } from '../identity/resolve-names.ts';
import type { Caller } from '../common/ports.ts';
import { requireTargets } from '../activities/targets.ts';

/** Absent fields do not change. */
export interface ComputerChange {
  title?: string | undefined;
  comment?: string | undefined;
  tags?: readonly string[] | undefined;
  accessGroup?: string | undefined;
}

export interface ComputerEditsService {
  /**
   * Changes title, comment, tags or access group of a computer. Idempotent.
   * @returns the computer in detail as JSON text
   * @throws {DomainError} UnknownComputer, ComputerArchived, UnknownAccessGroup (400), InvalidParameter; Forbidden, in either group
   * @see docs/api-conventions.md#changing-computers
   */
  edit(caller: Caller, computerId: number, change: ComputerChange): Promise<string>;
}

const MAX_COMMENT = 10_000;

export function createComputerEditsService(deps: { db: Database }): ComputerEditsService {
  return {
    edit: (caller, computerId, change) =>
      deps.db.transaction(async (tx) => {
        // Prevents removal of the access group between the lookup and the move.
        if (change.accessGroup !== undefined) await lockRights(tx, caller.accountId);
        await requireTargets(tx, caller, [computerId], 'ManageComputer');
        const checked = await checkChange(tx, caller.accountId, computerId, change);
        const { accessGroup } = change;
        const accessGroupId =
          accessGroup === undefined ? undefined : await requireAccessGroup(tx, caller, accessGroup, MOVE_PERMISSIONS);
        const edited = await updateComputer(tx, caller.accountId, computerId, { ...checked, accessGroupId });
        if (!edited) throw unknownComputer();
        const parts = describe(change);
        if (parts !== '') {
          await recordEvent(tx, caller, {
            entityType: 'Computer',
            entityId: computerId,
            entityName: edited.title,
            message: `Changed ${parts} of the computer ${edited.title}`,
          });
        }
        const groups = caller.groups('ViewComputer');
        const scope = { accountId: caller.accountId, groups: groupsOf(groups), id: computerId };
        const found = await findComputer(tx, scope, WITHOUT_BLOCKS);
        if (found === null) throw unknownComputer();
        return found;
      }),
  };
}

async function checkChange(tx: Sql, accountId: number, id: number, { title, comment, tags }: ComputerChange) {
  if (comment !== undefined && [...comment].length > MAX_COMMENT) {
    throw fieldError('body.comment', `must not have more than ${MAX_COMMENT} characters`);
  }
  return {
    title: title === undefined ? undefined : readLine('body.title', title),
    comment,
    // Clients may send back tags that the agent set.
    tags: tags && readTags('body.tags', tags, await findTags(tx, accountId, id)),
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

function unknownComputer(): DomainError {
  return new DomainError('UnknownComputer', 'There is no such computer');
}
