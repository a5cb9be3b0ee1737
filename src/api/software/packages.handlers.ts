import { PACKAGE_STATES } from '../../domain/software/package-states.ts';
import type { PackageCommand, PackageOnComputers, PackagesQuery } from '../../services/software/packages.service.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { readDeliveryFields } from '../activities/request-fields.ts';
import type { Handlers, RequestContext, Schemas, Services } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function packagesHandlers({ packages }: Services) {
  return {
    listPackages: async (context) => {
      const { caller, query } = context;
      const page = await packages.list(caller, query.query ?? '', readPackagesQuery(context), pageOf(context));
      return envelope(context, page, toPackageResponse);
    },
    listComputerPackages: async (context) => {
      const { caller, params } = context;
      const filter = readPackagesQuery(context);
      const page = await packages.listOfComputer(caller, params.computer_id, filter, pageOf(context));
      return envelope(context, page, toComputerPackageResponse);
    },
    actOnPackages: async ({ caller, body, traceparent }) =>
      toActivityResponse(await packages.act(caller, readPackageCommand(body, traceparent))),
  } satisfies Handlers;
}

function readPackageCommand(
  { action, computer_ids, package_ids, ...delivery }: Schemas['PackageRequest'],
  traceparent: string | null,
): PackageCommand {
  return {
    action,
    computerIds: computer_ids,
    packageIds: package_ids,
    ...readDeliveryFields(delivery),
    traceparent,
  };
}

function readPackagesQuery({ query }: RequestContext<'listPackages' | 'listComputerPackages'>): PackagesQuery {
  const given = PACKAGE_STATES.filter((state) => query[state] !== undefined);
  return {
    search: query.search ?? '',
    names: query.names ?? null,
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
