import { DomainError } from '../../domain/common/errors.ts';
import type { Permission } from '../../domain/identity/permissions.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import { groupsOf } from '../../persistence/query/group-scope.ts';
import { lockAgents, removeComputers } from '../../persistence/computers/computer-removal.sql.ts';
import { recordEvents } from '../../persistence/events/events.sql.ts';
import { listPendingComputers, lockPendingComputers } from '../../persistence/computers/pending-computers.sql.ts';
import { lockFleetShared } from '../../persistence/computers/targets.sql.ts';
import { lockRights } from '../../persistence/identity/rights.repository.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import { acceptComputers } from './acceptance.ts';
import { requireAccessGroup } from '../identity/resolve-names.ts';
import type { Caller, Clock } from '../common/ports.ts';
import type { ProfileRunDeps } from '../scripts/profiles/script-profile-runs.ts';

const ACCEPT: Permission = 'ManagePendingComputer';

interface Deps extends ProfileRunDeps {
  db: Database;
  clock: Clock;
}

export type PendingComputersService = ReturnType<typeof createPendingComputersService>;

/** Computers that enrolled but are not accepted yet. */
export function createPendingComputersService(deps: Deps) {
  const { db, clock } = deps;
  return {
    /** One page of those in access groups where the caller may accept them, by id. */
    list: (caller: Caller, page: PageRequest) => listPendingComputers(db, scopeOf(caller), page),
    /**
     * All or none; `ids` may repeat. Returns ids, ascending. @throws {DomainError} UnknownComputer unless pending and
     * visible; UnknownAccessGroup (400), Forbidden @see docs/api-conventions.md#pending-computers
     */
    accept: (
      caller: Caller,
      ids: readonly number[],
      { accessGroup, traceparent }: { accessGroup: string | undefined; traceparent: string | null },
    ) =>
      db.transaction(async (tx) => {
        const { accountId } = caller;
        if (accessGroup !== undefined) await lockRights(tx, accountId);
        await lockFleetShared(tx, accountId);
        const computers = await requirePending(tx, caller, ids);
        const computerIds = computers.map(({ id }) => id);
        const accessGroupId =
          accessGroup === undefined ? null : await requireAccessGroup(tx, caller, accessGroup, [ACCEPT]);
        await acceptComputers(tx, { accountId, computerIds, accessGroupId, now: clock.now(), traceparent }, deps);
        await recordEach(tx, caller, computers, 'Accepted');
        return computerIds;
      }),
    /** All or none. Their identities become unknown; they may enrol again. @returns ids, ascending */
    reject: (caller: Caller, ids: readonly number[]) =>
      db.transaction(async (tx) => {
        await lockAgents(tx, caller.accountId, ids);
        const computers = await requirePending(tx, caller, ids);
        const computerIds = computers.map(({ id }) => id);
        await removeComputers(tx, computerIds);
        await recordEach(tx, caller, computers, 'Rejected');
        return computerIds;
      }),
  };
}

async function requirePending(tx: Sql, caller: Caller, ids: readonly number[]) {
  const computers = await lockPendingComputers(tx, scopeOf(caller), ids);
  const found = new Set(computers.map(({ id }) => id));
  const missing = [...new Set(ids)].filter((id) => !found.has(id));
  if (missing.length === 0) return computers;
  const details = missing.slice(0, MAX_NAMED).map((id) => ({ id, message: 'there is no such pending computer' }));
  throw new DomainError('UnknownComputer', `There is no pending computer ${missing[0]}`, { details });
}

const MAX_NAMED = 100;

function scopeOf(caller: Caller) {
  return { accountId: caller.accountId, groups: groupsOf(caller.groups(ACCEPT)) };
}

async function recordEach(
  tx: Sql,
  caller: Caller,
  computers: ReadonlyArray<{ id: number; title: string }>,
  verb: 'Accepted' | 'Rejected',
): Promise<void> {
  const events = computers.map(({ id, title }) => ({
    entityType: 'Computer' as const,
    entityId: id,
    entityName: title,
    message: `${verb} the pending computer ${title}`,
  }));
  await recordEvents(tx, caller, events);
}
