import type { PowerAction } from '../../domain/activities/machine-operations.ts';
import type { Services } from '../../services/setup/services.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { type DeliveryFields, readDeliveryFields } from '../activities/request-fields.ts';
import type { Handlers, OperationResponse, RequestContext } from '../http/handler.ts';
import { traceparentOf } from '../http/tracing.ts';

export function powerRoutes(deps: { services: Pick<Services, 'power'> }): Handlers {
  const act = async (
    action: PowerAction,
    { caller, params, body, request }: RequestContext,
  ): Promise<OperationResponse> => {
    const command = {
      computerId: params['computer_id'] as number,
      ...readDeliveryFields((body ?? {}) as DeliveryFields),
      traceparent: traceparentOf(request),
    };
    return { body: toActivityResponse(await deps.services.power.act(caller, action, command)) };
  };
  return {
    restartComputer: (context) => act('restart', context),
    shutDownComputer: (context) => act('shutdown', context),
  };
}
