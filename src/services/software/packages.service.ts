import { readDelivery } from '../../domain/activities/delivery.ts';
import { computersText } from '../../domain/activities/summary.ts';
import type { PackageAction } from '../../domain/software/package-operations.ts';
import { type PackageStanding, standingOf } from '../../domain/software/package-states.ts';
import { nameSentPackages } from '../../persistence/activities/package-changes.sql.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import { groupsOf } from '../../persistence/query/group-scope.ts';
import { listPackages, type PackageFilter, type PackageRow } from '../../persistence/software/packages.sql.ts';
import { type ActingDeps, type ActionRequest, createAction } from '../activities/computer-actions.ts';
import { requireTargets, requireVisible } from '../activities/targets.ts';
import type { Caller } from '../common/ports.ts';
import { NO_SEEN_SEARCHES, resolveComputerQuery } from '../query/computer-queries.ts';
import { choosePackages } from './package-choices.ts';

export type PackagesQuery = Pick<PackageFilter, 'search' | 'names' | 'states'>;

export interface PackageOnComputers {
  /** Id on the first computer. */
  id: number;
  name: string;
  summary: string;
  /** At most the first 100 computers on which it is installed or available. */
  computers: Array<PackageStanding & { computer: number }>;
}

export interface PackageCommand extends ActionRequest {
  action: PackageAction;
  computerIds: readonly number[];
  /** Ids of versions, or of packages as listed. */
  packageIds: readonly number[];
}

/** @see docs/api-conventions.md#packages */
export function createPackagesService(deps: ActingDeps) {
  const read = async (caller: Caller, computers: readonly number[] | null, query: PackagesQuery, page: PageRequest) => {
    const scope = { accountId: caller.accountId, groups: groupsOf(caller.groups('ViewComputer')) };
    const { count, rows } = await listPackages(deps.db, { ...scope, computers, ...query }, page);
    return { count, results: gather(rows) };
  };
  return {
    /** By name, without archived computers; an empty `query` means all. @throws {DomainError} InvalidQueryError */
    async list(caller: Caller, query: string, filter: PackagesQuery, page: PageRequest) {
      if (query.trim() === '') return read(caller, null, filter, page);
      const selection = { text: query, seen: NO_SEEN_SEARCHES };
      return read(caller, await resolveComputerQuery(deps, caller, selection, 'query.query'), filter, page);
    },
    /** One page of package names of one computer. @throws {DomainError} UnknownComputer */
    async listOfComputer(caller: Caller, computer: number, filter: PackagesQuery, page: PageRequest) {
      await requireVisible(deps.db, caller, [computer]);
      return read(caller, [computer], filter, page);
    },
    /** All or none. @throws InvalidParameter, UnknownComputer, Forbidden, ComputerArchived, PackageNotEligible */
    async act(caller: Caller, command: PackageCommand) {
      const { action, deliverAfter, windowMinutes, after, traceparent } = command;
      const now = deps.clock.now();
      const delivery = readDelivery(deliverAfter, windowMinutes, now, 'body.deliver_after');
      const computers = [...new Set(command.computerIds)];
      const ids = [...new Set(command.packageIds)];
      return deps.db.transaction(async (tx) => {
        await requireTargets(tx, caller, computers, 'ManageComputer');
        const choice = await choosePackages(tx, { accountId: caller.accountId, action, computers, ids });
        const plan = {
          ...delivery,
          ...choice,
          computers,
          after,
          parameters: { operation: 'packages', action, package_ids: ids },
          traceparent,
          event: `${choice.summary} on ${computersText(computers.length)}`,
        };
        const activity = await createAction(tx, caller, plan, { now, settings: deps.settings });
        await nameSentPackages(tx, activity.id);
        return activity;
      });
    },
  };
}

/** Rows are sorted by name and computer. */
function gather(rows: readonly PackageRow[]): PackageOnComputers[] {
  return groupBy(rows, ({ name }) => name).map((versions) => {
    const computers = groupBy(versions, ({ computer_id }) => computer_id).map((own) => ({
      computer: own[0]!.computer_id,
      ...standingOf(own),
    }));
    const id = computers[0]!.id;
    const { name, summary } = versions.find((row) => row.id === id)!;
    return { id, name, summary, computers };
  });
}

function groupBy<T>(rows: readonly T[], key: (row: T) => unknown): T[][] {
  const groups: T[][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (last && key(last[0]!) === key(row)) last.push(row);
    else groups.push([row]);
  }
  return groups;
}
