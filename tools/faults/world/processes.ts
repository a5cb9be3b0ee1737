import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isAlive } from '../../stack/processes/processes.ts';
import type { FaultCommand } from '../inside/fault-commands.ts';

/** The processes of a stack that accept fault commands. */
export interface FaultableProcesses {
  /** Sends a command to every running process of the role. @returns how many accepted it */
  send(role: 'api' | 'worker', command: FaultCommand): Promise<number>;
  /** Points that struck since the world started, in order. */
  struck(): string[];
}

/** @param directory - where the processes read commands and write */
export function createFaultableProcesses(directory: string): FaultableProcesses {
  return {
    async send(role, command) {
      const sockets = readdirSync(directory).filter((name) => {
        const [, owner, pid] = /^(\w+)-(\d+)\.sock$/.exec(name) ?? [];
        return owner === role && isAlive(Number(pid));
      });
      const accepted = await Promise.all(sockets.map((name) => send(join(directory, name), command)));
      return accepted.filter(Boolean).length;
    },
    struck() {
      const log = join(directory, 'struck.log');
      return existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
    },
  };
}

const RESPONSE_LIMIT_MS = 2000;

function send(path: string, command: FaultCommand): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (isAccepted: boolean): void => {
      socket.destroy();
      resolve(isAccepted);
    };
    socket.setTimeout(RESPONSE_LIMIT_MS, () => end(false));
    socket.on('error', () => end(false));
    socket.on('close', () => end(false));
    createInterface(socket)
      .on('line', () => end(true))
      .on('error', () => end(false));
    socket.write(`${JSON.stringify(command)}\n`);
  });
}
