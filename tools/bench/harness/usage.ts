import { loadavg } from 'node:os';
import {
  listProcesses,
  type MachineTimes,
  machineTimes,
  memoryMiB,
  type ProcessStat,
  storageBytesWritten,
  treeOf,
} from './proc.ts';
import { sum } from './statistics.ts';

/** Processes counted together under one name, each with everything below it. */
export interface Role {
  name: string;
  /** Read at every sample, because a process may be restarted in between. */
  roots: () => readonly number[];
  alone?: boolean;
  /** `proportional` for processes that share memory. */
  memory?: 'resident' | 'proportional';
}

/** Usage of one role in a window. */
export interface RoleUsage {
  cpuMs: number;
  peakMiB: number;
  startMiB: number;
  storageBytes: number;
}

/** Total usage between two moments. */
export interface Usage {
  wallMs: number;
  roles: Record<string, RoleUsage>;
  /** Share of the machine's CPU taken by processes that are not ours. */
  foreignShare: number;
  stealShare: number;
  loadAverage: number;
}

interface Reading {
  at: number;
  machine: MachineTimes;
  roles: Map<string, { cpuMs: number; storageBytes: number; memoryMiB: number }>;
}

const SAMPLE_INTERVAL_MS = 500;
/** Proportional memory is expensive to read, once per process, so only every so many samples read it. */
const SHARED_EVERY = 4;

/**
 * Measures what the roles and the machine use while `work` runs.
 * @param roles - their trees must not overlap
 * @param options.peaks - `ends`: reads memory at both ends only, so that reading does not slow the work down
 * @remarks A process that exits in the window and is not reaped by a member of its tree loses its CPU time.
 */
export async function measure<T>(
  roles: readonly Role[],
  work: () => Promise<T>,
  options: { peaks?: 'ends' } = {},
): Promise<{ result: T; usage: Usage }> {
  const before = read(roles);
  const peaks = new Map([...before.roles].map(([name, r]) => [name, r.memoryMiB]));
  let samples = 0;
  const sample = () => {
    const processes = listProcesses();
    samples += 1;
    for (const role of roles) {
      if (role.memory === 'proportional' && samples % SHARED_EVERY !== 0) continue;
      peaks.set(role.name, Math.max(memoryOf(role, membersOf(role, processes)), peaks.get(role.name) ?? 0));
    }
  };
  const timer = options.peaks === 'ends' ? undefined : setInterval(sample, SAMPLE_INTERVAL_MS);
  try {
    const result = await work();
    return { result, usage: difference(before, read(roles), peaks) };
  } finally {
    clearInterval(timer);
  }
}

function read(roles: readonly Role[]): Reading {
  const processes = listProcesses();
  const found: Reading['roles'] = new Map();
  for (const role of roles) {
    const members = membersOf(role, processes);
    found.set(role.name, {
      cpuMs: sum(members.map((m) => (role.alone ? m.ownCpuMs : m.cpuMs))),
      storageBytes: sum(members.map((m) => storageBytesWritten(m.pid))),
      memoryMiB: memoryOf(role, members),
    });
  }
  return { at: performance.now(), machine: machineTimes(), roles: found };
}

function membersOf(role: Role, processes: readonly ProcessStat[]): ProcessStat[] {
  const roots = role.roots();
  return role.alone ? processes.filter((p) => roots.includes(p.pid)) : roots.flatMap((root) => treeOf(processes, root));
}

function memoryOf(role: Role, members: readonly ProcessStat[]): number {
  return sum(members.map((m) => memoryMiB(m.pid, role.memory ?? 'resident')));
}

function difference(before: Reading, after: Reading, peaks: ReadonlyMap<string, number>): Usage {
  const roles: Usage['roles'] = {};
  for (const [name, end] of after.roles) {
    const start = before.roles.get(name)!;
    roles[name] = {
      cpuMs: Math.max(0, end.cpuMs - start.cpuMs),
      peakMiB: Math.max(peaks.get(name) ?? 0, end.memoryMiB),
      startMiB: start.memoryMiB,
      storageBytes: Math.max(0, end.storageBytes - start.storageBytes),
    };
  }
  const ours = sum(Object.values(roles).map((r) => r.cpuMs));
  const total = after.machine.totalMs - before.machine.totalMs;
  const share = (ms: number) => (total > 0 ? Math.max(0, ms / total) : 0);
  return {
    wallMs: after.at - before.at,
    roles,
    foreignShare: share(after.machine.busyMs - before.machine.busyMs - ours),
    stealShare: share(after.machine.stealMs - before.machine.stealMs),
    loadAverage: loadavg()[0]!,
  };
}

/** CPU of the named roles together, in milliseconds. */
export function cpuMsOf(usage: Usage, names: readonly string[]): number {
  return sum(names.map((name) => usage.roles[name]?.cpuMs ?? 0));
}

/** Peak memory of the named roles together, in MiB. */
export function peakMiBOf(usage: Usage, names: readonly string[]): number {
  return sum(names.map((name) => usage.roles[name]?.peakMiB ?? 0));
}

/** How far the memory of the named roles rose above its value at the start, in MiB. */
export function addedMiBOf(usage: Usage, names: readonly string[]): number {
  return peakMiBOf(usage, names) - sum(names.map((name) => usage.roles[name]?.startMiB ?? 0));
}
