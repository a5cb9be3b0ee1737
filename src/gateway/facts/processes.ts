import { ProcessDelta, type ReportedProcess } from '../../domain/agents/deltas.ts';
import { MAX_INT4 } from '../../domain/common/integers.ts';
import type { BObject } from '../../protocol/bpickle.ts';
import type { Facts } from './facts.ts';
import { describeItem, type ItemName, type MessageFaults } from './faults.ts';
import { MalformedMessage, toInt, toNumberOrNull } from './fields.ts';
import { lenientInt, lenientText, readDicts, readItems } from './lenient-fields.ts';

const MAX_PROCESSES = 100_000;
const MAX_ID = 2 ** 32;
const MAX_SECONDS = 2 ** 40;
const MAX_TITLE = 4096;
const MAX_PERCENT = 1_000_000_000;

/** Reads `active-process-info`. A process whose report cannot be stored is deleted: its pid may have been reused. */
export function readProcesses(message: BObject, facts: Facts, faults: MessageFaults): void {
  const resetAll = message['kill-all-processes'] === true;
  const unreadable = new Set<number>();
  const upserts = ['add-processes', 'update-processes'].flatMap((key) =>
    readDicts(message[key], key, MAX_PROCESSES, faults, {
      name: (process) => describeItem('process', process['pid']),
      read: (process, item) => readProcess(process, item, faults, unreadable),
    }),
  );
  const kills = readItems(message['kill-processes'], 'kill-processes', MAX_PROCESSES, faults, {
    name: (pid) => describeItem('process', pid),
    read: readPid,
  });
  faults.requireUsable(resetAll || upserts.length + kills.length > 0);
  if (resetAll) resetProcesses(facts);
  facts.processes ??= new ProcessDelta(false);
  for (const pid of [...kills, ...unreadable]) facts.processes.remove(pid);
  for (const process of upserts) facts.processes.put(process.pid, process);
}

/** Discards earlier reports of the same exchange too; the stored processes are replaced. */
export function resetProcesses(facts: Facts): void {
  facts.processes = new ProcessDelta(true);
}

function readPid(value: Parameters<typeof toInt>[0]): number {
  return toInt(value, 'pid', 0, MAX_INT4);
}

function readProcess(
  process: BObject,
  item: ItemName,
  faults: MessageFaults,
  unreadable: Set<number>,
): ReportedProcess {
  const pid = readPid(process['pid']);
  unreadable.add(pid);
  const shown = (key: string, max: number) =>
    lenientText(process[key], max, { what: `the ${key} of a process`, faults, item });
  const number = (key: string, max: number, min = 0) =>
    lenientInt(process[key], [min, max], { what: key, faults, item });
  const startTime = number('start-time', MAX_SECONDS, -MAX_SECONDS);
  if (startTime === null) throw new MalformedMessage('a process must have a start-time');
  const reported = {
    pid,
    name: shown('name', MAX_TITLE) ?? '',
    state: shown('state', 8) ?? '',
    uid: number('uid', MAX_ID, -1),
    gid: number('gid', MAX_ID, -1),
    startTime,
    vmSize: number('vm-size', Number.MAX_SAFE_INTEGER),
    cpuUtilisation: readPercent(process['percent-cpu'], item, faults),
  };
  unreadable.delete(pid);
  return reported;
}

function readPercent(value: BObject[string] | undefined, item: ItemName, faults: MessageFaults): number | null {
  if (value === undefined || value === null) return null;
  const percent = toNumberOrNull(value);
  if (percent !== null && Math.abs(percent) < MAX_PERCENT) return percent;
  faults.skipped(`percent-cpu must be a number below ${MAX_PERCENT}`, item);
  return null;
}
