import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { json, text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { run } from '../../../packages/cli/src/run.ts';
import { temporaryDirectory } from '../common/process.ts';

/** What a run of the program has written, and its exit code. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the program in this process, without a terminal. */
export async function runInProcess(args: readonly string[], env: NodeJS.ProcessEnv = {}, input = ''): Promise<Ended> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end(input);
  const written = Promise.all([text(stdout), text(stderr)]);
  const streams = { stdin, stdout, stderr } as unknown as Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;
  const code = await run(args, { env: { XDG_CONFIG_HOME: '/nonexistent', ...env }, ...streams });
  stdout.end();
  stderr.end();
  const [out, err] = await written;
  return { code, stdout: out, stderr: err };
}

/** A request that a stand-in for a server has got. */
export interface Received {
  method: string;
  /** Below `/api/v2`, with its parameters. */
  path: string;
  body: unknown;
  authorization: string | undefined;
}

/** What a stand-in answers. */
export type Answer = readonly [status: number, body: unknown, headers?: Record<string, string>];

/** A stand-in for a server that records what it receives. */
export interface StandIn {
  url: string;
  env: NodeJS.ProcessEnv;
  received: Received[];
}

/** Starts a stand-in, for what the program does with responses that a real server gives too rarely. */
export async function startStandIn(answer: (request: Received) => Answer | undefined): Promise<StandIn> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const one = await read(request);
    received.push(one);
    const [status, body, headers] = answer(one) ?? [404, errorBody('NotFound', 'There is nothing here', 404)];
    response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'r1', ...headers });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  });
  const url = await listen(server);
  return { url, env: { FLOTILLA_URL: url, FLOTILLA_TOKEN: 'a-token' }, received };
}

export function errorBody(error: string, message: string, code: number, details?: object[]): object {
  return { error, message, code, ...(details ? { details } : {}) };
}

/** A page that is the whole list. */
export function page(results: unknown[]): Answer {
  return [200, { count: results.length, results, next: null, previous: null }];
}

/** A directory for the configuration of the program, as an environment. */
export async function configuration(): Promise<{ XDG_CONFIG_HOME: string; file: string }> {
  const directory = await temporaryDirectory();
  return { XDG_CONFIG_HOME: directory, file: join(directory, 'flotilla', 'servers.json') };
}

async function read(request: IncomingMessage): Promise<Received> {
  const { method = '', url = '', headers } = request;
  const body = method === 'GET' ? null : await json(request).catch(() => null);
  return { method, path: url.replace('/api/v2', ''), body, authorization: headers.authorization };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
