import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

const LISTENING = '0A';
const LOOPBACK = /^(0100007F|00000000000000000000000001000000|0000000000000000FFFF00000100007F)$/;

/** A TCP port that a process listens on. */
export interface ListeningPort {
  pid: number;
  port: number;
  /** Reachable from this machine alone. */
  loopback: boolean;
}

/** Every TCP port that the processes listen on, from /proc. */
export function listeningPorts(pids: readonly number[]): ListeningPort[] {
  const sockets = new Map<string, { port: number; loopback: boolean }>();
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of readFileSync(file, 'latin1').split('\n').slice(1)) {
      const columns = line.trim().split(/\s+/);
      const [address = '', port = ''] = (columns[1] ?? '').split(':');
      if (columns[3] !== LISTENING) continue;
      sockets.set(columns[9]!, { port: Number.parseInt(port, 16), loopback: LOOPBACK.test(address) });
    }
  }
  return pids.flatMap((pid) =>
    inodesOf(pid).flatMap((inode) => {
      const socket = sockets.get(inode);
      return socket ? [{ pid, ...socket }] : [];
    }),
  );
}

function inodesOf(pid: number): string[] {
  const directory = `/proc/${pid}/fd`;
  try {
    return readdirSync(directory).flatMap((name) => linkOf(join(directory, name)));
  } catch {
    return [];
  }
}

function linkOf(path: string): string[] {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.slice(1) ?? [];
  } catch {
    return [];
  }
}
