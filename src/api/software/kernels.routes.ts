import type { KernelAction } from '../../domain/software/package-operations.ts';
import type { Services } from '../../services/setup/services.ts';
import { toActivityResponse } from '../activities/activities.wire.ts';
import type { Handlers, OperationResponse, RequestContext } from '../http/handler.ts';
import { traceparentOf } from '../http/tracing.ts';
import { readKernelCommand, toHotpatchInfoResponse, toKernelListingResponse } from './kernels.wire.ts';

export function kernelsRoutes(deps: { services: Pick<Services, 'kernels'> }): Handlers {
  const { kernels } = deps.services;
  const change = async (action: KernelAction, context: RequestContext): Promise<OperationResponse> => {
    const command = readKernelCommand(context, traceparentOf(context.request));
    // The API has no status for it yet. See docs/api-conventions.md#activity-statuses.
    return {
      body: { ...toActivityResponse(await kernels.change(context.caller, action, command)), activity_status: null },
    };
  };
  return {
    async getHotpatchInfo({ caller, params }) {
      return { body: toHotpatchInfoResponse(await kernels.info(caller, params['computer_id'] as number)) };
    },
    async getKernels({ caller, params }) {
      return { body: toKernelListingResponse(await kernels.listing(caller, params['computer_id'] as number)) };
    },
    upgradeKernel: (context) => change('upgrade', context),
    downgradeKernel: (context) => change('downgrade', context),
  };
}
