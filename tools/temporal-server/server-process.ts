import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Certificates } from './certificates.ts';
import { spawnLogged } from './logged-process.ts';

/** A server in its own process. */
export interface ServerProcess {
  pid: number;
  /** Resolves with a short reason when the server has ended. */
  exited: Promise<string>;
  /** Stops the server; kills it after the limit. Its data stays consistent in either case. Idempotent. */
  stop(limitMs?: number): Promise<void>;
}

export interface ServerOptions {
  title: string;
  program: string;
  args: readonly string[];
  logFile: string;
  /** Gives the server its PATH and HOME, and nothing else. */
  env: Record<string, string | undefined>;
  /** Called with the process id as soon as the process exists. */
  onSpawn?: ((pid: number) => void) | undefined;
  /** Stops a server that is not ready yet. */
  signal?: AbortSignal | undefined;
  /** What must respond before it counts as ready: a URL with 200, and ports that accept connections. */
  serves: { url: string; certificates: Certificates | null; host: string; ports: readonly number[] };
  limitMs: number;
}

const STOP_LIMIT_MS = 8000;

/** Starts a server and waits until it serves. @throws when it ends or is not ready in time, with the end of its log */
export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const child = spawnLogged(options.program, options.args, {
    logFile: options.logFile,
    env: { PATH: options.env['PATH'], HOME: options.env['HOME'], TZ: 'UTC' },
  });
  if (child.pid) options.onSpawn?.(child.pid);
  let ended: string | null = null;
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? `killed by ${signal}` : `exit code ${code}`));
    child.once('error', (error) => resolve(error.message));
  }).then((reason) => {
    ended = reason;
    return reason;
  });
  const stop = async (limitMs = STOP_LIMIT_MS): Promise<void> => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (ended !== null) return;
      child.kill(signal);
      await Promise.race([exited, sleep(limitMs, null, { ref: false })]);
    }
  };
  const problem = await waitUntilServing(options, () => ended);
  if (problem === null) return { pid: child.pid ?? 0, exited, stop };
  await stop();
  throw new Error(`${options.title} ${problem}: ${await logTail(options.logFile)} (log: ${options.logFile})`);
}

async function waitUntilServing({ serves, limitMs, signal }: ServerOptions, ended: () => string | null) {
  const end = performance.now() + limitMs;
  while (performance.now() < end) {
    const reason = ended();
    if (reason !== null) return `ended (${reason})`;
    if (signal?.aborted) return 'was stopped before it was ready';
    if (
      (await respondsOk(serves)) &&
      (await Promise.all(serves.ports.map((port) => acceptsConnections(serves.host, port)))).every(Boolean)
    ) {
      return null;
    }
    await sleep(25);
  }
  return `was not ready within ${limitMs / 1000} s`;
}

function respondsOk({ url, certificates }: ServerOptions['serves']): Promise<boolean> {
  return new Promise((resolve) => {
    const secured = certificates && {
      ca: readFileSync(certificates.ca),
      cert: readFileSync(certificates.client.cert),
      key: readFileSync(certificates.client.key),
    };
    const { get } = secured ? https : http;
    const request = get(url, { ...secured, timeout: 2000, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once('timeout', () => request.destroy()).once('error', () => resolve(false));
  });
}

function acceptsConnections(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function logTail(logFile: string): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-2).join(' ').slice(-600) || 'no output';
}
