import { setTimeout as sleep } from 'node:timers/promises';
import type { StartMessage } from '../../../src/process/lifecycle.ts';
import { spawnLogged } from '../../temporal-server/logged-process.ts';
import { useCompiled } from '../code/compiled-code.ts';
import { CALL_SERIALIZATION, type Preparation } from './child-call.ts';
import { signalProcess } from './processes.ts';
import type { Running } from './service.ts';

export interface NodeProcessOptions {
  command: readonly string[];
  /** Folder of the compiled code, if it runs that. */
  code?: string | null;
  cwd: string;
  env: Record<string, string | undefined>;
  logFile: string;
  /** What it waits for with its code loaded. When this fails, it waits until it is stopped. */
  needs?: Promise<unknown>;
  /** What it runs before it serves; it is one of its needs. */
  preparation?: Preparation;
  readyLimitMs?: number;
  onSpawn?: (pid: number) => void;
}

/**
 * Starts a Node process in its own process group, so that Ctrl-C does not reach it before its turn, and with an IPC
 * channel that closes when the supervisor dies. Resolves when it reports that it is ready.
 * @throws when it ends before, is not ready in time, or is aborted
 * See `lifecycle.ts`.
 */
export async function startNodeProcess(options: NodeProcessOptions, signal: AbortSignal): Promise<Running> {
  signal.throwIfAborted();
  const { cwd, env, logFile, preparation, code = null } = options;
  const command = useCompiled(preparation?.command(options.command) ?? options.command, code);
  const channel = { ipc: true, serialization: CALL_SERIALIZATION } as const;
  const child = spawnLogged(process.execPath, command, { cwd, env, logFile, ...channel });
  if (child.pid) options.onSpawn?.(child.pid);
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, by) => resolve(by ? `killed by ${by}` : `exit code ${code}`));
    child.once('error', (error) => resolve(error.message));
  });
  const stop = async (limitMs: number): Promise<void> => {
    child.kill('SIGTERM');
    const ended = await Promise.race([exited, sleep(limitMs, null, { ref: false })]);
    if (ended === null && child.pid) signalProcess(child.pid, 'SIGKILL', true);
    await exited;
  };
  const limit = new AbortController();
  const ready = new Promise<true>((resolve) => {
    child.on('message', (message) => {
      if (typeof message === 'object' && message !== null && 'ready' in message) resolve(true);
    });
  });
  const aborted = new Promise<null>((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
  preparation?.runIn(child);
  await Promise.race([options.needs?.catch(() => exited), exited, aborted]);
  child.send({ start: true } satisfies StartMessage, () => undefined);
  const timeout = sleep(options.readyLimitMs ?? 60_000, false as const, { signal: limit.signal }).catch(() => null);
  const outcome = await Promise.race([ready, exited, aborted, timeout]);
  limit.abort();
  if (outcome === true) return { exited, stop };
  if (typeof outcome === 'string') throw new Error(outcome);
  await stop(ABORT_LIMIT_MS);
  throw new Error(outcome === null ? 'stopped while starting' : 'not ready in time');
}

const ABORT_LIMIT_MS = 2000;
