import { DomainError } from '../domain/errors.ts';
import { WITHOUT_BLOCKS } from '../persistence/repositories/computer-blocks.ts';
import { updateComputer } from '../persistence/repositories/computer-edits.repository.ts';
import { findComputer } from '../persistence/repositories/computers.repository.ts';
import { recordEvent } from '../persistence/repositories/events.repository.ts';
import { lockRights } from '../persistence/repositories/rights-lock.ts';
import type { Database } from '../persistence/sql.ts';
import { readLine, refusedField } from './fields.ts';
import { findAccessGroup } from './names-in-body.ts';
import type { Caller } from './ports.ts';
import { requireTargets } from './targets.ts';

/** What a request changes; absent parts stay. */
export interface ComputerChange {
  title?: string | undefined;
  comment?: string | undefined;
  tags?: readonly string[] | undefined;
  accessGroup?: string | undefined;
}

export interface ComputerEditsService {
  /**
   * Changes title, comment, tags or access group of a computer. Idempotent.
   *
   * @returns the computer in detail as JSON text
   * @throws {DomainError} UnknownComputer; Forbidden when the caller may not manage computers where it is or where it
   * shall go; ComputerArchived; UnknownAccessGroup (400); InvalidParameter
   * @see api-decisions 12.4
   */
  edit(caller: Caller, computerId: number, change: ComputerChange): Promise<string>;
}

const TAG = /^[\p{L}\p{Nd}-]{1,50}$/u;
const MAX_TAGS = 100;
/** What it takes to put a computer into an access group. */
const MOVING = ['ManageComputer', 'ViewComputer'] as const;
const MAX_COMMENT = 10_000;
export function createComputerEditsService(deps: { db: Database }): ComputerEditsService {
  return {
    edit: (caller, computerId, change) =>
      deps.db.transaction(async (tx) => {
        const checked = checkChange(change);
        // Against a removal of the access group between looking it up and moving into it.
        if (change.accessGroup !== undefined) await lockRights(tx, caller.accountId);
        await requireTargets(tx, caller, [computerId], 'ManageComputer');
        // Moving a computer is creating it anew in the other group: it needs the same rights there.
        const { accessGroup } = change;
        const accessGroupId =
          accessGroup === undefined ? undefined : await findAccessGroup(tx, caller, accessGroup, MOVING);
        const edited = await updateComputer(tx, caller.accountId, computerId, { ...checked, accessGroupId });
        if (!edited) throw unknownComputer();
        await recordEvent(tx, caller, {
          entityType: 'Computer',
          entityId: computerId,
          entityName: edited.title,
          message: `Changed ${describe(change)} of the computer ${edited.title}`,
        });
        const groups = caller.groups('ViewComputer');
        const scope = { accountId: caller.accountId, groups: groups === 'all' ? null : groups, id: computerId };
        const found = await findComputer(tx, scope, WITHOUT_BLOCKS);
        if (found === null) throw unknownComputer();
        return found;
      }),
  };
}

function checkChange({ title, comment, tags }: ComputerChange) {
  if (comment !== undefined && comment.length > MAX_COMMENT) {
    throw refusedField('body.comment', `must not have more than ${MAX_COMMENT} characters`);
  }
  if (tags?.some((tag) => !TAG.test(tag))) {
    throw refusedField('body.tags', 'must have 1 to 50 letters, digits and dashes each');
  }
  if (tags && tags.length > MAX_TAGS) throw refusedField('body.tags', `must not be more than ${MAX_TAGS}`);
  return {
    title: title === undefined ? undefined : readLine('body.title', title),
    comment,
    tags: tags && [...new Set(tags)],
  };
}

function describe(change: ComputerChange): string {
  const parts = [
    change.title === undefined ? '' : 'the title',
    change.comment === undefined ? '' : 'the comment',
    change.tags === undefined ? '' : 'the tags',
    change.accessGroup === undefined ? '' : `the access group (now ${change.accessGroup})`,
  ];
  return parts.filter((part) => part !== '').join(', ') || 'nothing';
}

function unknownComputer(): DomainError {
  return new DomainError('UnknownComputer', 'There is no such computer');
}
