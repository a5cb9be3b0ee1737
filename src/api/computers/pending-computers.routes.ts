import type { Router } from 'express';
import type { PendingComputersService } from '../../services/computers/pending-computers.service.ts';
import { formatTime } from '../common/time.ts';
import { createRouter, type Handler, type RouteDeps } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import type { components } from '../openapi/types.generated.ts';

export function pendingComputersRoutes({ operation, services: { pendingComputers } }: RouteDeps): Router {
  const listPendingComputers: Handler<'listPendingComputers'> = async (context) => {
    const { count, rows } = await pendingComputers.list(context.caller, pageOf(context));
    return envelope(context, { count, results: rows }, toPendingComputerResponse);
  };
  const acceptPendingComputers: Handler<'acceptPendingComputers'> = async ({ caller, body, traceparent }) => {
    const { computer_ids, access_group } = body;
    const to = { accessGroup: access_group ?? undefined, traceparent };
    return await pendingComputers.accept(caller, computer_ids, to);
  };
  const rejectPendingComputers: Handler<'rejectPendingComputers'> = ({ caller, body }) =>
    pendingComputers.reject(caller, body.computer_ids);
  return createRouter()
    .get('/pending-computers', operation('listPendingComputers', listPendingComputers))
    .post('/pending-computers\\:accept', operation('acceptPendingComputers', acceptPendingComputers))
    .post('/pending-computers\\:reject', operation('rejectPendingComputers', rejectPendingComputers));
}

type PendingComputer = Awaited<ReturnType<PendingComputersService['list']>>['rows'][number];

function toPendingComputerResponse(computer: PendingComputer): components['schemas']['PendingComputer'] {
  return {
    id: computer.id,
    title: computer.title,
    hostname: computer.hostname,
    creation_time: formatTime(computer.creation_time),
    client_tags: computer.client_tags,
    vm_info: computer.vm_info,
    container_info: computer.container_info,
    access_group: computer.access_group,
  };
}
