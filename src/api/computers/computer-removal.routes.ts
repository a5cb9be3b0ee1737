import type { Router } from 'express';
import type { Services } from '../../services/setup/services.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import type { Handler, RequestContext, ServeOperation } from '../http/handler.ts';
import { createRouter } from '../http/router.ts';

export function computerRemovalRoutes(deps: {
  operation: ServeOperation;
  services: Pick<Services, 'computerRemoval'>;
}): Router {
  const { operation } = deps;
  const { computerRemoval } = deps.services;
  const archiveComputer: Handler<'archiveComputer'> = async (context) => {
    return { body: toActivityResponse(await computerRemoval.archive(context.caller, namedComputer(context))) };
  };
  const sanitizeComputer: Handler<'sanitizeComputer'> = async (context) => {
    const { after } = context.body;
    const computer = { ...namedComputer(context), after: after ?? null };
    return { body: toActivityResponse(await computerRemoval.sanitize(context.caller, computer)) };
  };
  const deleteComputers: Handler<'deleteComputers'> = async ({ caller, body, traceparent }) => {
    const { computer_ids } = body;
    await computerRemoval.remove(caller, computer_ids, traceparent);
    return { status: 204 };
  };
  return createRouter()
    .post('/computers/:computer_id/archive', operation('archiveComputer', archiveComputer))
    .post('/computers/:computer_id/sanitize', operation('sanitizeComputer', sanitizeComputer))
    .post('/computers\\:delete', operation('deleteComputers', deleteComputers));
}

function namedComputer({ params, body, traceparent }: RequestContext<'archiveComputer' | 'sanitizeComputer'>) {
  const { computer_title: title } = body;
  return { id: params.computer_id, title, traceparent: traceparent };
}
