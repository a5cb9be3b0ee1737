import type { SignalCommand } from '../../services/processes.service.ts';
import type { ProcessView } from '../../services/views.ts';
import { invalidParameter } from '../middleware/error-body.ts';
import { wireTime } from './time.wire.ts';

const MAX_PID = 2_147_483_647;

/** An item of the listing of processes. */
export function wireProcess(computer: number, process: ProcessView) {
  return {
    id: process.pid,
    computer_id: computer,
    pid: process.pid,
    gid: process.gid,
    name: process.name,
    state: process.state,
    start_time: wireTime(process.start_time),
    vm_size: process.vm_size,
    cpu_utilisation: process.cpu_utilisation,
  };
}

/**
 * What a request to POST /processes asks for.
 *
 * @throws {DomainError} InvalidParameter when a number in a text is none of a process
 */
export function readSignalCommand(body: unknown, traceparent: string | null): SignalCommand {
  const { computer_id, pids } = body as { computer_id: number; pids: number[] | string };
  const numbers = typeof pids === 'string' ? pids.split(',').map(Number) : pids;
  if (numbers.some((pid) => pid > MAX_PID)) throw invalidParameter('body.pids', `must be at most ${MAX_PID}`);
  return { computerId: computer_id, pids: numbers, traceparent };
}
