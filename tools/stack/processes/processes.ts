import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Inspects and signals processes that are not our children, by /proc. Linux only. */

/** Whether the process runs. A zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const state = stat.charAt(stat.lastIndexOf(')') + 2);
    return state !== 'Z' && state !== 'X';
  } catch {
    return false;
  }
}

/** Start of the process in clock ticks since boot; with the pid it identifies a process. Null when it has exited. */
export function startTicks(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

/** Running processes whose working directory is the given one; a PostgreSQL server's is its data directory. */
export function processesIn(directory: string): number[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    try {
      return readlinkSync(`/proc/${entry}/cwd`) === directory ? [Number(entry)] : [];
    } catch {
      return [];
    }
  });
}

/** Sends a signal to a process, or with `group` to the group that it leads. False when there is no such process. */
export function signalProcess(pid: number, signal: NodeJS.Signals, group = false): boolean {
  try {
    return process.kill(group ? -pid : pid, signal);
  } catch {
    return false;
  }
}

/** Polls until the condition is true. False when it did not come true in time. */
export async function waitUntil(condition: () => boolean, limitMs: number, intervalMs = 15): Promise<boolean> {
  const end = performance.now() + limitMs;
  while (!condition()) {
    if (performance.now() > end) return false;
    await sleep(intervalMs);
  }
  return true;
}
