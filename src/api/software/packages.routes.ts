import type { Services } from '../../services/setup/services.ts';
import { toActivityResponse } from '../activities/activities.wire.ts';
import type { Handlers } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { traceparentOf } from '../http/tracing.ts';
import {
  readPackageCommand,
  readPackagesQuery,
  toComputerPackageResponse,
  toPackageResponse,
} from './packages.wire.ts';

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
