import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { isAlive, signalProcess, waitUntil } from '../stack/processes/processes.ts';

/** The kinds of process of an embedded stack. */
export const STACK_ROLES = [
  'supervisor',
  'api',
  'worker',
  'fleet',
  'temporal',
  'postmaster',
  'postgres-backend',
  'other',
] as const;
export type StackRole = (typeof STACK_ROLES)[number];

export interface StackProcess {
  pid: number;
  role: StackRole;
  command: string;
}

/**
 * Every running process of the stack on the data directory, with or without a supervisor: those with the directory in
 * their command line, environment or working directory. Reads /proc, so it also finds orphans of a killed supervisor.
 */
export function processesOf(dataDir: string): StackProcess[] {
  return readdirSync('/proc').flatMap((entry) => {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid || !isAlive(pid)) return [];
    const command = readProc(pid, 'cmdline').replaceAll('\0', ' ').trim();
    const directory = workingDirectory(pid);
    const ours =
      isBelow(directory, dataDir) ||
      command.includes(dataDir) ||
      readProc(pid, 'environ')
        .split('\0')
        .some((line) => line.startsWith('FLOTILLA_') && line.includes(dataDir));
    return ours ? [{ pid, role: roleOf(command), command }] : [];
  });
}

/** The processes of one role of the stack on the data directory. */
export function processesOfRole(dataDir: string, role: StackRole): StackProcess[] {
  return processesOf(dataDir).filter((p) => p.role === role);
}

/** Sends SIGKILL and waits until the processes have exited. @returns those that ran */
export async function killHard(processes: readonly StackProcess[]): Promise<number[]> {
  const hit = processes.filter((p) => signalProcess(p.pid, 'SIGKILL')).map((p) => p.pid);
  if (!(await waitUntil(() => !hit.some(isAlive), 10_000))) throw new Error(`still alive after SIGKILL: ${hit}`);
  return hit;
}

/** Kills everything on the data directory, including processes started meanwhile. For cleaning up. */
export async function killStack(dataDir: string): Promise<void> {
  for (let round = 0; round < 20; round += 1) {
    const left = processesOf(dataDir);
    if (left.length === 0) return;
    // The supervisor first, because it would restart its children.
    for (const role of STACK_ROLES) for (const p of left) if (p.role === role) signalProcess(p.pid, 'SIGKILL');
    await waitUntil(() => !left.some((p) => isAlive(p.pid)), 1000);
  }
}

/** The value of a variable in the environment a process was started with; null without one. */
export function environmentOf(pid: number, name: string): string | null {
  const line = readProc(pid, 'environ')
    .split('\0')
    .find((entry) => entry.startsWith(`${name}=`));
  return line === undefined ? null : line.slice(name.length + 1);
}

function roleOf(command: string): StackRole {
  if (command.includes('tools/stack/main.ts')) return 'supervisor';
  if (command.includes('tools/simulator/main.ts')) return 'fleet';
  if (command.includes('workers/main.ts')) return 'worker';
  if (command.includes('src/server/main.ts')) return 'api';
  if (/\bflotilla-temporal\b|\btemporal-server\b/.test(command)) return 'temporal';
  if (/^\S*postgres: /.test(command)) return 'postgres-backend';
  if (/\/postgres -D /.test(command)) return 'postmaster';
  return 'other';
}

function isBelow(path: string | null, directory: string): boolean {
  return path === directory || (path?.startsWith(`${directory}/`) ?? false);
}

function workingDirectory(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
