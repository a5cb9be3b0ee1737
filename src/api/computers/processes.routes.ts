import type { ProcessSignal } from '../../domain/activities/machine-operations.ts';
import { MAX_INT4 } from '../../domain/common/integers.ts';
import { fieldError } from '../../services/common/fields.ts';
import type { SignalCommand } from '../../services/computers/processes.service.ts';
import type { Services } from '../../services/setup/services.ts';
import type { ProcessView } from '../../services/setup/views.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { formatTime } from '../common/time.ts';
import type { Handlers, OperationResponse, RequestContext } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { traceparentOf } from '../http/tracing.ts';

export function processesRoutes(deps: { services: Pick<Services, 'processes'>; publicUrl: string }): Handlers {
  const { processes } = deps.services;
  const signal = async (name: ProcessSignal, { caller, body, request }: RequestContext): Promise<OperationResponse> => {
    const command = readSignalCommand(body, traceparentOf(request));
    return { body: toActivityResponse(await processes.signal(caller, name, command)) };
  };
  return {
    async listProcesses(context) {
      const computer = context.params['computer_id'] as number;
      const { count, rows } = await processes.list(context.caller, computer, pageOf(context));
      const results = rows.map((row) => toProcessResponse(computer, row));
      return { body: envelope(context, deps.publicUrl, { count, results }) };
    },
    killProcesses: (context) => signal('kill', context),
    terminateProcesses: (context) => signal('terminate', context),
  };
}

const MAX_PIDS = 100;
const MAX_TEXT = 1200;
const PIDS = /^ *[1-9]\d{0,8}( *, *[1-9]\d{0,8})* *$/;

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

/** @throws {DomainError} InvalidParameter when `pids` is neither a list nor a comma-separated text of process ids */
function readSignalCommand(body: unknown, traceparent: string | null): SignalCommand {
  const { computer_id, pids, after } = body as { computer_id: number; pids: unknown; after?: number | null };
  return { computerId: computer_id, pids: readPids(pids), after: after ?? null, traceparent };
}

function readPids(pids: unknown): number[] {
  const numbers: unknown = isPidText(pids) ? pids.split(',').map(Number) : pids;
  if (Array.isArray(numbers) && numbers.length >= 1 && numbers.length <= MAX_PIDS && numbers.every(isPid))
    return numbers;
  throw fieldError(
    'body.pids',
    `must be a list of numbers, or numbers separated by commas, each at least 1 and at most ${MAX_INT4}, 1 to ${MAX_PIDS} in all`,
  );
}

function isPidText(pids: unknown): pids is string {
  return typeof pids === 'string' && pids.length <= MAX_TEXT && PIDS.test(pids);
}

function isPid(pid: unknown): boolean {
  return Number.isInteger(pid) && (pid as number) >= 1 && (pid as number) <= MAX_INT4;
}
