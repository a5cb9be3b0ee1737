import type { PackageAction } from '../../domain/software/package-operations.ts';
import { PACKAGE_STATES } from '../../domain/software/package-states.ts';
import type { PackageCommand, PackageOnComputers, PackagesQuery } from '../../services/software/packages.service.ts';
import { type DeliveryFields, readDeliveryFields } from '../activities/delivery.wire.ts';
import type { RequestContext } from '../http/handler.ts';

/** Body of POST /packages. */
interface PackageBody extends DeliveryFields {
  action: PackageAction;
  computer_ids: number[];
  package_ids: number[];
}

/** @throws {DomainError} InvalidParameterCombination */
export function readPackageCommand(body: unknown, traceparent: string | null): PackageCommand {
  const { action, computer_ids, package_ids, ...delivery } = body as PackageBody;
  return {
    action,
    computerIds: computer_ids,
    packageIds: package_ids,
    ...readDeliveryFields(delivery),
    traceparent,
  };
}

export function readPackagesQuery({ query }: RequestContext): PackagesQuery {
  const given = PACKAGE_STATES.filter((state) => query[state] !== undefined);
  return {
    search: (query['search'] as string | undefined) ?? '',
    names: (query['names'] as string[] | undefined) ?? null,
    states: Object.fromEntries(given.map((state) => [state, query[state] === true])),
  };
}

export function toPackageResponse({ id, name, summary, computers }: PackageOnComputers) {
  return {
    id,
    name,
    summary,
    computers: computers.map(({ computer, status, current_version, available_version }) => ({
      id: computer,
      status,
      current_version,
      available_version,
    })),
  };
}

export function toComputerPackageResponse({ name, summary, computers }: PackageOnComputers) {
  const { id, status, current_version, available_version, available_id } = computers[0]!;
  return { id, name, summary, status, current_version, available_version, available_id };
}
