import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { StackError } from '../stack-error.ts';
import { isAlive, signalProcess, startTicks, waitUntil } from './processes.ts';

/** Identifies a process; the id alone may be reused. */
interface ProcessMark {
  name: string;
  pid: number;
  ticks: string;
}

interface RunningFile {
  bootId: string;
  supervisor: number;
  processes: ProcessMark[];
}

const NOTHING: RunningFile = { bootId: '', supervisor: 0, processes: [] };

/** The file of the last stack on the data directory; empty when there is none or it is broken. */
export function readRunning(file: string): RunningFile {
  try {
    return { ...NOTHING, ...(JSON.parse(readFileSync(file, 'utf8')) as Partial<RunningFile>) };
  } catch {
    return NOTHING;
  }
}

/** State of a stack on a data directory, read from outside. */
export type StackState =
  | { is: 'absent' }
  | { is: 'starting'; supervisor: number }
  /** `settings` come from the environment of its API, which only its user and root can read. */
  | { is: 'running'; supervisor: number; settings: Record<string, string> };

/**
 * Reads whether a stack runs.
 * @param file - of running processes; one that cannot be read counts as none
 * @throws {StackError} when it belongs to another user
 */
export function readStackState(file: string): StackState {
  const { bootId: boot, supervisor, processes } = readRunning(file);
  if (supervisor === 0 || boot !== bootId() || !isAlive(supervisor)) return { is: 'absent' };
  const api = processes.find((mark) => API.test(mark.name) && isSame(mark));
  return api ? { is: 'running', supervisor, settings: settingsOf(api.pid) } : { is: 'starting', supervisor };
}

/** Names of APIs in the embedded stack and in the topology. */
const API = /^API$|^api-\d+$/;
const SETTING = /^(FLOTILLA|OTEL)_/;

function settingsOf(pid: number): Record<string, string> {
  try {
    const lines = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    const entries = lines.map((line): [string, string] => {
      const end = line.indexOf('=');
      return [line.slice(0, end), line.slice(end + 1)];
    });
    return Object.fromEntries(entries.filter(([name]) => SETTING.test(name)));
  } catch (error) {
    throw new StackError(`The settings of process ${pid} cannot be read: run this as the user who started Flotilla.`, {
      cause: error,
    });
  }
}

/**
 * Writes the file of running processes, synchronously. PostgreSQL is not in it, because its data directory names its
 * own process.
 */
export interface RunningRecord {
  add(name: string, pid: number): void;
  remove(): void;
}

export function createRunningRecord(file: string): RunningRecord {
  const record: RunningFile = { bootId: bootId(), supervisor: process.pid, processes: [] };
  const write = (): void => {
    writeFileSync(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  write();
  return {
    add(name, pid) {
      const ticks = startTicks(pid);
      if (ticks === null) return;
      record.processes = [...record.processes.filter((mark) => isSame(mark)), { name, pid, ticks }];
      try {
        write();
      } catch {
        // A full disk must not stop the start; the next change writes this one too.
      }
    },
    remove: () => rmSync(file, { force: true }),
  };
}

/** Stops the processes that a killed stack left behind, first with SIGTERM, then with SIGKILL. @returns their names */
export async function stopOrphans(file: string): Promise<string[]> {
  const last = readRunning(file);
  const orphans = last.bootId === bootId() ? last.processes.filter(isSame) : [];
  for (const { pid } of orphans) signalProcess(pid, 'SIGTERM');
  await waitUntil(() => !orphans.some(isSame), GRACE_MS);
  for (const mark of orphans) if (isSame(mark)) signalProcess(mark.pid, 'SIGKILL', true);
  await waitUntil(() => !orphans.some(isSame), GRACE_MS);
  return orphans.map(({ name }) => name);
}

const GRACE_MS = 2500;

function isSame(mark: ProcessMark): boolean {
  return isAlive(mark.pid) && startTicks(mark.pid) === mark.ticks;
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
