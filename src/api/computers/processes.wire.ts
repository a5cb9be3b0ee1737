import { MAX_INT4 } from '../../domain/common/integers.ts';
import { fieldError } from '../../services/common/fields.ts';
import type { SignalCommand } from '../../services/computers/processes.service.ts';
import type { ProcessView } from '../../services/setup/views.ts';
import { formatTime } from '../common/time.wire.ts';

const MAX_PIDS = 100;
const MAX_TEXT = 1200;
const PIDS = /^ *[1-9]\d{0,8}( *, *[1-9]\d{0,8})* *$/;

export function toProcessResponse(computer: number, process: ProcessView) {
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

/**
 * @throws {DomainError} InvalidParameter when `pids` is neither a list nor a comma-separated text of process ids
 */
export function readSignalCommand(body: unknown, traceparent: string | null): SignalCommand {
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
