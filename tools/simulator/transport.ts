import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { createLimiter } from './limiter.ts';

export interface Reply {
  status: number;
  body: Buffer;
}

/** The network of all simulated computers. */
export interface Transport {
  /** @throws after the time limit */
  post(path: string, body: Buffer | string, headers: Record<string, string>): Promise<Reply>;
  /** @throws after the time limit */
  get(path: string, headers: Record<string, string>): Promise<Reply>;
  /**
   * Runs a job when a connection is free, so that payloads are not prepared earlier.
   * @throws if the transport is closed
   */
  whenConnectionFree<T>(job: () => Promise<T>): Promise<T>;
  /** Aborts open requests; nothing is sent afterwards. */
  close(): void;
}

const TIMEOUT_MS = 60_000;
const CLOSED = 'the transport is closed';

export const USER_AGENT = 'landscape-client/26.08';

/**
 * Sends requests to one gateway, or to several in turn, as behind a load balancer.
 * @param connections - maximum keep-alive connections to each
 * @param baseUrls - `http://host:port`, optionally with a path, before `/message-system` and `/ping`; comma-separated
 */
export function createTransport(baseUrls: string, connections: number): Transport {
  const bases = baseUrls.split(',').map((url) => new URL(`${url.replace(/\/+$/, '')}/`));
  const secure = bases[0]!.protocol === 'https:';
  let requests = 0;
  const options = { keepAlive: true, maxSockets: connections, scheduling: 'lifo' as const };
  const agent = secure ? new HttpsAgent(options) : new HttpAgent(options);
  const open = secure ? httpsRequest : httpRequest;
  const limit = createLimiter(connections);
  let closed = false;
  const send = (method: string, path: string, headers: Record<string, string>, body?: Buffer | string) =>
    new Promise<Reply>((resolve, reject) => {
      if (closed) throw new Error(CLOSED);
      const base = bases[requests++ % bases.length];
      const request = open(new URL(path, base), { method, agent, headers: { 'User-Agent': USER_AGENT, ...headers } });
      request.setTimeout(TIMEOUT_MS, () => request.destroy(new Error(`no response within ${TIMEOUT_MS} ms`)));
      request.on('error', reject);
      request.on('response', (response) => collect(response, resolve, reject));
      request.end(body);
    });
  return {
    post: (path, body, headers) =>
      send('POST', path, { ...headers, 'Content-Length': String(Buffer.byteLength(body)) }, body),
    get: (path, headers) => send('GET', path, headers),
    whenConnectionFree: (job) =>
      limit(() => {
        if (closed) throw new Error(CLOSED);
        return job();
      }),
    close() {
      closed = true;
      agent.destroy();
    },
  };
}

function collect(response: IncomingMessage, resolve: (reply: Reply) => void, reject: (error: Error) => void): void {
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.on('error', reject);
  response.on('end', () => {
    resolve({ status: response.statusCode ?? 0, body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks) });
  });
}
