import type { Router } from 'express';
import type { PowerAction } from '../../domain/activities/machine-operations.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { readDeliveryFields } from '../activities/request-fields.ts';
import { createRouter, type Handler, type RequestContext, type RouteDeps } from '../http/handler.ts';

export function powerRoutes({ operation, services }: RouteDeps): Router {
  const act = async (
    action: PowerAction,
    { caller, params, body, traceparent }: RequestContext<'restartComputer' | 'shutDownComputer'>,
  ) => {
    const command = { computerId: params.computer_id, ...readDeliveryFields(body ?? {}), traceparent };
    return toActivityResponse(await services.power.act(caller, action, command));
  };
  const restartComputer: Handler<'restartComputer'> = (context) => act('restart', context);
  const shutDownComputer: Handler<'shutDownComputer'> = (context) => act('shutdown', context);
  return createRouter()
    .post('/computers/:computer_id/restart', operation('restartComputer', restartComputer))
    .post('/computers/:computer_id/shutdown', operation('shutDownComputer', shutDownComputer));
}
