import type { Router } from 'express';
import type { Services } from '../../services/setup/services.ts';
import type { PendingComputerView } from '../../services/setup/views.ts';
import { formatTime } from '../common/time.ts';
import type { Handler, ServeOperation } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { createRouter } from '../http/router.ts';

export function pendingComputersRoutes(deps: {
  operation: ServeOperation;
  services: Pick<Services, 'pendingComputers'>;
  publicUrl: string;
}): Router {
  const { operation } = deps;
  const { pendingComputers } = deps.services;
  const listPendingComputers: Handler<'listPendingComputers'> = async (context) => {
    const { count, rows } = await pendingComputers.list(context.caller, pageOf(context));
    return { body: envelope(context, deps.publicUrl, { count, results: rows.map(toPendingComputerResponse) }) };
  };
  const acceptPendingComputers: Handler<'acceptPendingComputers'> = async ({ caller, body, traceparent }) => {
    const { computer_ids, access_group } = body;
    const to = { accessGroup: access_group ?? undefined, traceparent: traceparent };
    return { body: await pendingComputers.accept(caller, computer_ids, to) };
  };
  const rejectPendingComputers: Handler<'rejectPendingComputers'> = async ({ caller, body }) => {
    const { computer_ids } = body;
    return { body: await pendingComputers.reject(caller, computer_ids) };
  };
  return createRouter()
    .get('/pending-computers', operation('listPendingComputers', listPendingComputers))
    .post('/pending-computers\\:accept', operation('acceptPendingComputers', acceptPendingComputers))
    .post('/pending-computers\\:reject', operation('rejectPendingComputers', rejectPendingComputers));
}

function toPendingComputerResponse(computer: PendingComputerView) {
  return { ...computer, creation_time: formatTime(computer.creation_time) };
}
