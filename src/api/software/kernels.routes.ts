import type { KernelAction } from '../../domain/software/package-operations.ts';
import type { Services } from '../../services/setup/services.ts';
import type { Handlers, Reply, RequestContext } from '../http/handler.ts';
import { traceparentOf } from '../http/trace-context.ts';
import { wireActivity } from '../activities/activities.wire.ts';
import { readKernelCommand, wireHotpatchInfo, wireKernelListing } from './kernels.wire.ts';

export function kernelsRoutes(deps: { services: Pick<Services, 'kernels'> }): Handlers {
  const { kernels } = deps.services;
  const change = async (action: KernelAction, context: RequestContext): Promise<Reply> => {
    const command = readKernelCommand(context, traceparentOf(context.request));
    // Nothing has been decided about it yet when this is answered. See docs/api-conventions.md#activity-statuses.
    return { body: { ...wireActivity(await kernels.change(context.caller, action, command)), activity_status: null } };
  };
  return {
    async getHotpatchInfo({ caller, params }) {
      return { body: wireHotpatchInfo(await kernels.info(caller, params['computer_id'] as number)) };
    },
    async getKernels({ caller, params }) {
      return { body: wireKernelListing(await kernels.listing(caller, params['computer_id'] as number)) };
    },
    upgradeKernel: (context) => change('upgrade', context),
    downgradeKernel: (context) => change('downgrade', context),
  };
}
