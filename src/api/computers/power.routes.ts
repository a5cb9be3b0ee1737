import type { Router } from 'express';
import type { PowerAction } from '../../domain/activities/machine-operations.ts';
import type { Services } from '../../services/setup/services.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { readDeliveryFields } from '../activities/request-fields.ts';
import type { Handler, RequestContext, ServeOperation } from '../http/handler.ts';
import { createRouter } from '../http/router.ts';

export function powerRoutes(deps: { operation: ServeOperation; services: Pick<Services, 'power'> }): Router {
  const { operation } = deps;
  const act = async (
    action: PowerAction,
    { caller, params, body, traceparent }: RequestContext<'restartComputer' | 'shutDownComputer'>,
  ) => {
    const command = {
      computerId: params.computer_id,
      ...readDeliveryFields(body ?? {}),
      traceparent,
    };
    return { body: toActivityResponse(await deps.services.power.act(caller, action, command)) };
  };
  const restartComputer: Handler<'restartComputer'> = (context) => act('restart', context);
  const shutDownComputer: Handler<'shutDownComputer'> = (context) => act('shutdown', context);
  return createRouter()
    .post('/computers/:computer_id/restart', operation('restartComputer', restartComputer))
    .post('/computers/:computer_id/shutdown', operation('shutDownComputer', shutDownComputer));
}
