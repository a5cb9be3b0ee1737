import type { Router } from 'express';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { createRouter, type Handler, type RequestContext, type RouteDeps } from '../http/handler.ts';

export function computerRemovalRoutes({ operation, services: { computerRemoval } }: RouteDeps): Router {
  const archiveComputer: Handler<'archiveComputer'> = async (context) =>
    toActivityResponse(await computerRemoval.archive(context.caller, namedComputer(context)));
  const sanitizeComputer: Handler<'sanitizeComputer'> = async (context) => {
    const computer = { ...namedComputer(context), after: context.body.after ?? null };
    return toActivityResponse(await computerRemoval.sanitize(context.caller, computer));
  };
  const deleteComputers: Handler<'deleteComputers'> = ({ caller, body, traceparent }) =>
    computerRemoval.remove(caller, body.computer_ids, traceparent);
  return createRouter()
    .post('/computers/:computer_id/archive', operation('archiveComputer', archiveComputer))
    .post('/computers/:computer_id/sanitize', operation('sanitizeComputer', sanitizeComputer))
    .post('/computers\\:delete', operation('deleteComputers', deleteComputers));
}

function namedComputer({ params, body, traceparent }: RequestContext<'archiveComputer' | 'sanitizeComputer'>) {
  return { id: params.computer_id, title: body.computer_title, traceparent };
}
