import type { Services } from '../../services/setup/services.ts';
import type { Handlers } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { traceparentOf } from '../http/trace-context.ts';
import { wireActivity } from '../activities/activities.wire.ts';
import { readPackageCommand, readPackagesQuery, wireComputerPackage, wirePackage } from './packages.wire.ts';

export function packagesRoutes(deps: { services: Pick<Services, 'packages'>; publicUrl: string }): Handlers {
  const { packages } = deps.services;
  return {
    async listPackages(context) {
      const query = (context.query['query'] as string | undefined) ?? '';
      const filter = readPackagesQuery(context);
      const { count, results } = await packages.list(context.caller, query, filter, pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(wirePackage) }) };
    },
    async listComputerPackages(context) {
      const computer = context.params['computer_id'] as number;
      const filter = readPackagesQuery(context);
      const { count, results } = await packages.listOfComputer(context.caller, computer, filter, pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(wireComputerPackage) }) };
    },
    async actOnPackages({ caller, body, request }) {
      return { body: wireActivity(await packages.act(caller, readPackageCommand(body, traceparentOf(request)))) };
    },
  };
}
