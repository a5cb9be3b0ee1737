import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isPrivateLiteral, PrivateAddressError, publicLookup, type Resolve } from './webhook-addresses.ts';

/** What an attempt has led to; `error` is null for success, and contains neither secrets nor addresses of our network. */
export interface Outcome {
  status: number | null;
  error: string | null;
  retryAfterMs: number;
}

interface SenderOptions {
  /** Whether receivers may have private addresses. */
  privateAddresses: boolean;
  /** In place of the system's resolution of names. */
  resolve?: Resolve | undefined;
  /** Time limit of an attempt with its redirects. */
  timeoutMs?: number | undefined;
  /** Ends all attempts early. */
  signal?: AbortSignal | undefined;
}

export interface Sender {
  /** Sends one event. Never throws: an attempt that `signal` has ended is a failure. */
  send(url: string, headers: Readonly<Record<string, string>>, body: Buffer): Promise<Outcome>;
  /** Closes the connections that are kept. */
  close(): void;
}

interface Target extends Pick<SenderOptions, 'privateAddresses'> {
  agents: { 'http:': HttpAgent; 'https:': HttpsAgent };
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  signal: AbortSignal;
}

const TIMEOUT_MS = 15_000;
const MAX_REDIRECTS = 3;
const MAX_RESPONSE_BYTES = 64 * 1024;
/** Others would change the method, or have no place to go to. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308]);
const MAX_SECONDS_DIGITS = 9;

/** Sends events over connections that are kept until `close`. Every address is checked when it is connected to. */
export function createSender(options: SenderOptions): Sender {
  const lookup: { lookup?: LookupFunction } = options.privateAddresses ? {} : { lookup: publicLookup(options.resolve) };
  const agents = {
    'http:': new HttpAgent({ keepAlive: true, ...lookup }),
    'https:': new HttpsAgent({ keepAlive: true, ...lookup }),
  };
  return {
    async send(url, headers, body) {
      const timeout = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS);
      const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
      const target = { agents, headers, body, signal, privateAddresses: options.privateAddresses };
      try {
        return await follow(new URL(url), target);
      } catch (error) {
        const text = timeout.aborted ? 'the receiver did not respond in time' : describe(error);
        return { status: null, error: text, retryAfterMs: 0 };
      }
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

async function follow(start: URL, target: Target): Promise<Outcome> {
  let url = start;
  for (let redirects = 0; ; redirects += 1) {
    const { status, location, retryAfter } = await post(url, target);
    if (status >= 200 && status < 300) return { status, error: null, retryAfterMs: 0 };
    const failed = (error: string): Outcome => ({ status, error, retryAfterMs: retryAfterOf(status, retryAfter) });
    if (!REDIRECTS.has(status) || location === undefined) return failed(`the receiver responded with ${status}`);
    if (redirects === MAX_REDIRECTS) return failed(`there were more than ${MAX_REDIRECTS} redirects`);
    const next = URL.parse(location, url.href);
    if (!next || !isWebhookUrl(next)) return failed('the receiver redirected to no URL that webhooks can have');
    if (url.protocol === 'https:' && next.protocol === 'http:') return failed('the receiver redirected to plain HTTP');
    url = next;
  }
}

/** Whether events can be sent there, apart from the address. */
export function isWebhookUrl({ protocol, username, password }: URL): boolean {
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '';
}

function post(url: URL, { agents, headers, body, signal, privateAddresses }: Target) {
  // The system resolves no literal, so that the lookup does not see it.
  if (!privateAddresses && isPrivateLiteral(url)) return Promise.reject(new PrivateAddressError());
  const isPlain = url.protocol === 'http:';
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number;
    location: string | undefined;
    retryAfter: string | undefined;
  }>();
  const options = { method: 'POST', headers: { ...headers, 'content-length': body.length }, signal };
  const request = isPlain
    ? httpRequest(url, { ...options, agent: agents['http:'] })
    : httpsRequest(url, { ...options, agent: agents['https:'] });
  request.on('error', reject);
  request.on('response', (response: IncomingMessage) => {
    const { location, 'retry-after': retryAfter } = response.headers;
    discard(response).then(() => resolve({ status: response.statusCode!, location, retryAfter }), reject);
  });
  request.end(body);
  return promise;
}

/** Reads a response, so that its connection can be used again; closes the connection of a long one. */
async function discard(response: IncomingMessage): Promise<void> {
  let bytes = 0;
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
    // Leaving the loop destroys the connection.
    if (bytes > MAX_RESPONSE_BYTES) return;
  }
}

/** Seconds or a date. */
function retryAfterOf(status: number, value: string | undefined): number {
  if ((status !== 429 && status !== 503) || value === undefined) return 0;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text.slice(0, MAX_SECONDS_DIGITS)) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? 0 : Math.max(0, date - Date.now());
}

/** Codes say enough, where messages would name addresses. */
function describe(error: unknown): string {
  if (error instanceof PrivateAddressError) return error.message;
  const { code, name } = error as NodeJS.ErrnoException;
  if (name === 'AbortError') return 'the attempt was interrupted';
  return `the receiver could not be reached${code ? ` (${code})` : ''}`;
}
