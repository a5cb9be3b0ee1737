import type { Router } from 'express';
import type { ProcessSignal } from '../../domain/activities/machine-operations.ts';
import type { SignalCommand } from '../../services/computers/processes.service.ts';
import type { Services } from '../../services/setup/services.ts';
import type { ProcessView } from '../../services/setup/views.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { formatTime } from '../common/time.ts';
import type { Handler, RequestContext, ServeOperation } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { createRouter } from '../http/router.ts';
import type { components } from '../openapi/types.generated.ts';

export function processesRoutes(deps: {
  operation: ServeOperation;
  services: Pick<Services, 'processes'>;
  publicUrl: string;
}): Router {
  const { operation } = deps;
  const { processes } = deps.services;
  const signal = async (
    name: ProcessSignal,
    { caller, body, traceparent }: RequestContext<'killProcesses' | 'terminateProcesses'>,
  ) => {
    const command = readSignalCommand(body, traceparent);
    return { body: toActivityResponse(await processes.signal(caller, name, command)) };
  };
  const listProcesses: Handler<'listProcesses'> = async (context) => {
    const computer = context.params.computer_id;
    const { count, rows } = await processes.list(context.caller, computer, pageOf(context));
    const results = rows.map((row) => toProcessResponse(computer, row));
    return { body: envelope(context, deps.publicUrl, { count, results }) };
  };
  const killProcesses: Handler<'killProcesses'> = (context) => signal('kill', context);
  const terminateProcesses: Handler<'terminateProcesses'> = (context) => signal('terminate', context);
  return createRouter()
    .get('/computers/:computer_id/processes', operation('listProcesses', listProcesses))
    .post('/processes/kill', operation('killProcesses', killProcesses))
    .post('/processes/terminate', operation('terminateProcesses', terminateProcesses));
}

function toProcessResponse(computer: number, process: ProcessView) {
  return {
    id: process.pid,
    computer_id: computer,
    pid: process.pid,
    gid: process.gid,
    name: process.name,
    state: process.state,
    start_time: formatTime(process.start_time),
    vm_size: process.vm_size,
    cpu_utilisation: process.cpu_utilisation,
  };
}

function readSignalCommand(
  { computer_id, pids, after }: components['schemas']['SignalRequest'],
  traceparent: string | null,
): SignalCommand {
  const numbers = typeof pids === 'string' ? pids.split(',').map(Number) : pids;
  return { computerId: computer_id, pids: numbers, after: after ?? null, traceparent };
}
