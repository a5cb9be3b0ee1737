import type { PackageAction } from '../../domain/software/package-operations.ts';
import { PACKAGE_STATES } from '../../domain/software/package-states.ts';
import type { Services } from '../../services/setup/services.ts';
import type { PackageCommand, PackageOnComputers, PackagesQuery } from '../../services/software/packages.service.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { type DeliveryFields, readDeliveryFields } from '../activities/request-fields.ts';
import type { Handlers, RequestContext } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { traceparentOf } from '../http/tracing.ts';

export function packagesRoutes(deps: { services: Pick<Services, 'packages'>; publicUrl: string }): Handlers {
  const { packages } = deps.services;
  return {
    async listPackages(context) {
      const query = (context.query['query'] as string | undefined) ?? '';
      const filter = readPackagesQuery(context);
      const { count, results } = await packages.list(context.caller, query, filter, pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(toPackageResponse) }) };
    },
    async listComputerPackages(context) {
      const computer = context.params['computer_id'] as number;
      const filter = readPackagesQuery(context);
      const { count, results } = await packages.listOfComputer(context.caller, computer, filter, pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(toComputerPackageResponse) }) };
    },
    async actOnPackages({ caller, body, request }) {
      return { body: toActivityResponse(await packages.act(caller, readPackageCommand(body, traceparentOf(request)))) };
    },
  };
}

interface PackageBody extends DeliveryFields {
  action: PackageAction;
  computer_ids: number[];
  package_ids: number[];
}

/** @throws {DomainError} InvalidParameterCombination */
function readPackageCommand(body: unknown, traceparent: string | null): PackageCommand {
  const { action, computer_ids, package_ids, ...delivery } = body as PackageBody;
  return {
    action,
    computerIds: computer_ids,
    packageIds: package_ids,
    ...readDeliveryFields(delivery),
    traceparent,
  };
}

function readPackagesQuery({ query }: RequestContext): PackagesQuery {
  const given = PACKAGE_STATES.filter((state) => query[state] !== undefined);
  return {
    search: (query['search'] as string | undefined) ?? '',
    names: (query['names'] as string[] | undefined) ?? null,
    states: Object.fromEntries(given.map((state) => [state, query[state] === true])),
  };
}

function toPackageResponse({ id, name, summary, computers }: PackageOnComputers) {
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

function toComputerPackageResponse({ name, summary, computers }: PackageOnComputers) {
  const { id, status, current_version, available_version, available_id } = computers[0]!;
  return { id, name, summary, status, current_version, available_version, available_id };
}
