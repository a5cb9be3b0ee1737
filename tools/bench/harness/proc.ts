import { readdirSync, readFileSync } from 'node:fs';

/** One process as accounted by the kernel. */
export interface ProcessStat {
  pid: number;
  parent: number;
  ownCpuMs: number;
  cpuMs: number;
}

/** Ticks of /proc: 100 on every Linux that Node supports. */
const TICKS_PER_SECOND = 100;

/** Parses /proc/<pid>/stat. @returns null for any other text */
export function parseStat(text: string): ProcessStat | null {
  // The name in parentheses may itself contain spaces and parentheses: fields count from the last one.
  const end = text.lastIndexOf(')');
  if (end < 0) return null;
  const fields = text.slice(end + 2).split(' ');
  const [user, system, reapedUser, reapedSystem] = [11, 12, 13, 14].map(
    (i) => (Number(fields[i]) * 1000) / TICKS_PER_SECOND,
  );
  const ownCpuMs = user! + system!;
  const cpuMs = ownCpuMs + reapedUser! + reapedSystem!;
  return Number.isFinite(cpuMs) ? { pid: Number.parseInt(text, 10), parent: Number(fields[1]), ownCpuMs, cpuMs } : null;
}

/** Every process of the machine, except those that exit while being read. */
export function listProcesses(): ProcessStat[] {
  const found: ProcessStat[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const text = readProc(name, 'stat');
    const stat = text === null ? null : parseStat(text);
    if (stat) found.push(stat);
  }
  return found;
}

/** `root` and everything below it. */
export function treeOf(processes: readonly ProcessStat[], root: number): ProcessStat[] {
  const children = Map.groupBy(processes, (p) => p.parent);
  const tree = processes.filter((p) => p.pid === root);
  for (const member of tree) tree.push(...(children.get(member.pid) ?? []));
  return tree;
}

/** Command line of a process, words separated by spaces; empty when it has exited. */
export function commandLine(pid: number): string {
  return (readProc(pid, 'cmdline') ?? '').replaceAll('\0', ' ').trim();
}

/** Memory in MiB: resident, or for processes that share memory the proportional share. */
export function memoryMiB(pid: number, kind: 'resident' | 'proportional'): number {
  const text = kind === 'resident' ? readProc(pid, 'status') : readProc(pid, 'smaps_rollup');
  const line = text?.match(kind === 'resident' ? /^VmRSS:\s+(\d+)/m : /^Pss:\s+(\d+)/m);
  return line ? Number(line[1]) / 1024 : 0;
}

/** Bytes written to storage by a process and its reaped children. */
export function storageBytesWritten(pid: number): number {
  return Number(readProc(pid, 'io')?.match(/^write_bytes: (\d+)/m)?.[1] ?? 0);
}

/** CPU time of the whole machine since boot, in milliseconds. */
export interface MachineTimes {
  busyMs: number;
  stealMs: number;
  totalMs: number;
}

/** Parses the first line of /proc/stat. */
export function parseMachineTimes(text: string): MachineTimes {
  const fields = (text.match(/^cpu\s+(.+)$/m)?.[1] ?? '').split(' ').map((t) => (Number(t) * 1000) / TICKS_PER_SECOND);
  const [user = 0, nice = 0, system = 0, idle = 0, ioWait = 0, irq = 0, softIrq = 0, steal = 0] = fields;
  const busyMs = user + nice + system + irq + softIrq;
  return { busyMs, stealMs: steal, totalMs: busyMs + idle + ioWait + steal };
}

/** CPU time of the whole machine now. */
export function machineTimes(): MachineTimes {
  return parseMachineTimes(readFileSync('/proc/stat', 'utf8'));
}

function readProc(pid: number | string, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return null;
  }
}
