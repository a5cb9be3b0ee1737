import { DomainError } from '../../domain/common/errors.ts';
import type { PackageVersion } from '../../domain/software/package-changes.ts';
import { chooseVersion } from '../../domain/software/package-choice.ts';
import { type PackageAction, packageOperation, packageSummary } from '../../domain/software/package-operations.ts';
import { readPackages } from '../../persistence/activities/package-changes.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import {
  type ComputersWithSameVersions,
  findReportablePackages,
  readKnownVersions,
} from '../../persistence/software/packages.sql.ts';
import type { ComputerAction } from '../activities/computer-actions.ts';

export interface PackageRequest {
  accountId: number;
  action: PackageAction;
  computers: readonly number[];
  /** Distinct ids of versions; a version may stand for its package. */
  ids: readonly number[];
}

const MAX_NAMED = 100;

/** @throws {DomainError} PackageNotEligible when the action does not apply to a package on one of the computers */
export async function choosePackages(
  tx: Sql,
  request: PackageRequest,
): Promise<Pick<ComputerAction, 'summary' | 'operations'>> {
  const { action, computers } = request;
  const named = await readPackages(tx, request.ids);
  const groups = await chooseForEach(tx, request, named);
  const lists = [...new Map(groups.map(({ list }) => [keyOf(list), list])).values()];
  if (lists.length === 1) {
    return { summary: packageSummary(action, lists[0]!), operations: [packageOperation(action, lists[0]!)] };
  }
  const drafts = lists.map((list) => packageOperation(action, list));
  const places = new Map(lists.map((list, place) => [keyOf(list), place]));
  const draftOf = new Map(groups.flatMap(({ same, list }) => same.map((id) => [id, places.get(keyOf(list))!])));
  return {
    summary: packageSummary(action, [...new Set([...named.values()].map(({ name }) => name))]),
    operations: {
      messages: drafts.map(({ message }) => message),
      operations: computers.map((computer, place) => {
        const message = draftOf.get(computer)!;
        const { type, summary } = drafts[message]!;
        return { place, link: 0, after: null, delaySeconds: 0, type, summary, message, origin: null };
      }),
    },
  };
}

function keyOf(list: readonly PackageVersion[]): string {
  return list.map(({ id }) => id).join();
}

async function chooseForEach(tx: Sql, request: PackageRequest, named: ReadonlyMap<number, PackageVersion>) {
  const { accountId, action, computers, ids } = request;
  const groups = await readKnownVersions(tx, computers, ids);
  const reported = await findReportablePackages(tx, accountId, ids);
  for (const { versions } of groups) for (const { id } of [...versions.values()].flat()) reported.add(id);
  const choose = ({ versions }: ComputersWithSameVersions) =>
    ids.map((id, place) => (reported.has(id) ? chooseVersion(action, id, versions.get(place) ?? []) : null));
  const chosen = groups.map((group) => ({ same: group.computers, versions: choose(group) }));
  const ineligible = chosen.flatMap(({ same, versions }) => (versions.includes(null) ? same : []));
  if (ineligible.length > 0) throw notEligible(action, ineligible.sort((a, b) => a - b).slice(0, MAX_NAMED));
  return chosen.map(({ same, versions }) => {
    const list = versions.map((version, place) => ({
      id: version!.id,
      version: version!.version,
      name: named.get(ids[place]!)!.name,
    }));
    return { same, list: [...new Map(list.map((version) => [version.id, version])).values()] };
  });
}

function notEligible(action: PackageAction, computers: readonly number[]): DomainError {
  const message = `cannot ${action} all of these packages`;
  return new DomainError('PackageNotEligible', `Computer ${computers[0]} ${message}`, {
    details: computers.map((id) => ({ id, message })),
  });
}
