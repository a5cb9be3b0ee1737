import type { PowerAction } from '../../domain/activity/machine-operations.ts';
import type { Services } from '../../services/services.ts';
import type { Handlers, Reply, RequestContext } from '../handler.ts';
import type { components } from '../openapi/types.generated.ts';
import { traceparentOf } from '../trace-context.ts';
import { wireActivity } from '../wire/activities.wire.ts';

export function powerRoutes(deps: { services: Pick<Services, 'power'> }): Handlers {
  const act = async (action: PowerAction, { caller, params, body, request }: RequestContext): Promise<Reply> => {
    const delivery = (body ?? {}) as components['schemas']['DeliveryRequest'];
    const command = {
      computerId: params['computer_id'] as number,
      deliverAfter: delivery.deliver_after ?? null,
      windowMinutes: delivery.deliver_delay_window ?? 0,
      after: delivery.after ?? null,
      traceparent: traceparentOf(request),
    };
    return { body: wireActivity(await deps.services.power.act(caller, action, command)) };
  };
  return {
    restartComputer: (context) => act('restart', context),
    shutDownComputer: (context) => act('shutdown', context),
  };
}
