import type { PowerAction } from '../../domain/activities/machine-operations.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { readDeliveryFields } from '../activities/request-fields.ts';
import type { Handlers, RequestContext, Services } from '../http/handler.ts';

export function powerHandlers(services: Services) {
  const act = async (
    action: PowerAction,
    { caller, params, body, traceparent }: RequestContext<'restartComputer' | 'shutDownComputer'>,
  ) => {
    const command = { computerId: params.computer_id, ...readDeliveryFields(body ?? {}), traceparent };
    return toActivityResponse(await services.power.act(caller, action, command));
  };
  return {
    restartComputer: (context) => act('restart', context),
    shutDownComputer: (context) => act('shutdown', context),
  } satisfies Handlers;
}
