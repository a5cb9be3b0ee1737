import type { ProcessSignal } from '../../domain/activities/machine-operations.ts';
import type { ProcessesService, SignalCommand } from '../../services/computers/processes.service.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { formatTime } from '../common/time.ts';
import type { Handlers, RequestContext, Schemas, Services } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function processesHandlers({ processes }: Services) {
  const signal = async (
    name: ProcessSignal,
    { caller, body, traceparent }: RequestContext<'killProcesses' | 'terminateProcesses'>,
  ) => {
    return toActivityResponse(await processes.signal(caller, name, readSignalCommand(body, traceparent)));
  };
  return {
    listProcesses: async (context) => {
      const computer = context.params.computer_id;
      const { count, rows } = await processes.list(context.caller, computer, pageOf(context));
      return envelope(context, { count, results: rows }, (row) => toProcessResponse(computer, row));
    },
    killProcesses: (context) => signal('kill', context),
    terminateProcesses: (context) => signal('terminate', context),
  } satisfies Handlers;
}

type Process = Awaited<ReturnType<ProcessesService['list']>>['rows'][number];

function toProcessResponse(computer: number, process: Process): Schemas['Process'] {
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
  { computer_id, pids, after }: Schemas['SignalRequest'],
  traceparent: string | null,
): SignalCommand {
  const numbers = typeof pids === 'string' ? pids.split(',').map(Number) : pids;
  return { computerId: computer_id, pids: numbers, after: after ?? null, traceparent };
}
