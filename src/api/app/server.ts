import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { unauthorized } from '../../domain/common/errors.ts';
import { endUnread } from '../../process/http-answers.ts';
import { API_HEADERS } from '../http/middleware/send.ts';

/** Room for a query of 8 KiB in which every byte is percent-encoded. @see docs/api-conventions.md#query-language */
const MAX_HEADER_BYTES = 32 * 1024;
/** What is read at all: room beside the headers for a token far too long, which is refused as a token. */
const MAX_READ_BYTES = 4 * MAX_HEADER_BYTES;

/** How long a client may take, in milliseconds. */
export interface ServerLimits {
  /** From the first byte of a request to the end of its headers. */
  headersTimeoutMs: number;
  /** From the first byte of a request to its last. */
  requestTimeoutMs: number;
  /** How often connections past their time are looked for; Node's own default is half a minute. */
  checkIntervalMs: number;
}

export const SERVER_LIMITS: ServerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  checkIntervalMs: 2_000,
};

const MAX_CONNECTIONS = 10_000;
/** Requests under way at a stop get this long to end; the rest of an ordered stop needs its time too. */
const DRAIN_MS = 2_000;
/** Connections that clients keep open become idle one after another. */
const IDLE_SWEEP_MS = 50;

export interface HttpServer {
  /** The one asked for, or the one found when that was 0. */
  readonly port: number;
  /** Takes no more requests, lets those under way end, then closes what is left. */
  close(): Promise<void>;
}

/**
 * Listens with limits on how long a client may take. Browsers that came by TLS, which ends at a proxy, are told to keep to it.
 *
 * @throws when the port is in use or may not be opened
 */
export async function listen(
  app: RequestListener,
  at: { host: string; port: number; publicUrl?: string },
  limits: Partial<ServerLimits> = {},
): Promise<HttpServer> {
  const { headersTimeoutMs, requestTimeoutMs, checkIntervalMs } = { ...SERVER_LIMITS, ...limits };
  const isPublicByTls = at.publicUrl?.startsWith('https:') ?? false;
  const server = createServer(
    {
      maxHeaderSize: MAX_READ_BYTES,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: checkIntervalMs,
      // Refused by us, with a body.
      requireHostHeader: false,
    },
    (request, response) => {
      if (!isAwaited(request, response)) return;
      if (isPublicByTls || cameByTls(request)) response.setHeader('Strict-Transport-Security', ONE_YEAR);
      const refused = unservable(request);
      if (refused) refuse(request, response, refused);
      else app(request, response);
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    if (isAwaited(request, response)) refuse(request, response, unservable(request) ?? UNEXPECTED);
  });
  server.on('clientError', answerUnreadable);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(at.port, at.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
  const limit = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(limit);
}

/** The latest answer on each connection. */
const LATEST = new WeakMap<Socket, ServerResponse>();
/** The answer that was under way when an answer's request came. */
const PREVIOUS = new WeakMap<ServerResponse, ServerResponse>();
/** Connections that end with an answer under way. */
const ENDING = new WeakSet<Socket>();

/**
 * Whether anybody waits for the answer: behind one that ends the connection nothing is served, as its sender has to
 * repeat what was not answered.
 *
 * @see RFC 9112 9.6
 */
function isAwaited(request: IncomingMessage, response: ServerResponse): boolean {
  const before = LATEST.get(request.socket);
  if (before && !before.shouldKeepAlive) {
    request.resume();
    return false;
  }
  if (before) {
    // Nobody looks two answers back: a chain of them would last as long as a pipeline does.
    PREVIOUS.delete(before);
    if (!before.closed) PREVIOUS.set(response, before);
  }
  LATEST.set(request.socket, response);
  return true;
}

const ONE_YEAR = 'max-age=31536000';

/** By the word of whoever sent it: browsers ignore what the answer says of TLS on a connection without. */
function cameByTls({ headers }: IncomingMessage): boolean {
  return headers['x-forwarded-proto'] === 'https';
}

type Refused = [status: number, reason: string, code: string, message: string];

const TOO_LARGE: Refused = [431, 'Request Header Fields Too Large', 'PayloadTooLarge', 'The headers are too large'];
const NO_HOST: Refused = [400, 'Bad Request', 'InvalidParameter', 'The request names no host'];
const ELSEWHERE: Refused = [404, 'Not Found', 'NotFound', 'There is nothing at this address'];
const UNEXPECTED: Refused = [400, 'Bad Request', 'InvalidParameter', 'Only 100-continue can be expected here'];

/** Why no application gets to see the request, or null. */
function unservable(request: IncomingMessage): Refused | null {
  if (isOverlong(request)) return TOO_LARGE;
  if (request.httpVersion === '1.1' && request.headers.host === undefined) return NO_HOST;
  return isAddress(request.url ?? '') ? null : ELSEWHERE;
}

const ABSOLUTE = /^https?:\/\/[^/?#]{1,255}(?:[/?#]|$)/i;

/** Whether an application can tell the path of a target. */
function isAddress(target: string): boolean {
  return target.startsWith('/') || target === '*' || (ABSOLUTE.test(target) && URL.canParse(target));
}

/** Whether request line and headers are beyond the bound; a token is not counted, its reader has a bound of its own. */
function isOverlong({ url = '', rawHeaders, headers }: IncomingMessage): boolean {
  let bytes = url.length - (headers.authorization?.length ?? 0);
  for (const text of rawHeaders) bytes += text.length;
  return bytes > MAX_HEADER_BYTES;
}

function refuse(request: IncomingMessage, response: ServerResponse, refused: Refused): void {
  const { head, body } = refusal(refused);
  response.writeHead(refused[0], { ...head, Connection: 'close' });
  endUnread(request, response, body);
}

function refusal([status, , code, message]: Refused) {
  const body = JSON.stringify({ error: code, message, code: status });
  const head = {
    ...API_HEADERS,
    'X-Request-Id': crypto.randomUUID(),
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(status === 405 && { Allow: KNOWN_METHODS }),
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': body.length,
  };
  return { head, body };
}

interface UnreadableRequest extends NodeJS.ErrnoException {
  /** What was being read. */
  rawPacket?: Buffer;
}

const KNOWN_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const REQUEST_LINE = /^[A-Za-z-]{1,40} \/\S* HTTP\/1\.[01]\r\n/;
const OVERLONG_TOKEN = /^authorization:[^\r\n]{8000}/im;

/** What cannot be read as HTTP never reaches the application; it gets the same error body all the same. */
function answerUnreadable(error: UnreadableRequest, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  // The parser complains of every further piece.
  if (ENDING.has(socket)) return;
  const last = lastAnswer(socket);
  if (last) {
    ENDING.add(socket);
    if (last.closed) socket.destroySoon();
    else last.once('close', () => socket.destroySoon());
    return;
  }
  const refused = unreadable(error);
  const { head, body } = refusal(refused);
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${refused[0]} ${refused[1]}`, 'Connection: close', ...lines, '', body].join('\r\n'));
}

/** The answer to a request that was read, with nothing to be answered behind it; undefined where there is none. */
function lastAnswer(socket: Socket): ServerResponse | undefined {
  const latest = LATEST.get(socket);
  if (!latest || isFollowedBy(latest)) return latest;
  const previous = PREVIOUS.get(latest);
  return previous?.closed === false ? previous : undefined;
}

/** Whether what cannot be read stands behind the request of an answer that is under way or the last. */
function isFollowedBy({ req, headersSent, closed, shouldKeepAlive }: ServerResponse): boolean {
  return req.complete ? !closed || !shouldKeepAlive : headersSent;
}

function unreadable({ code, rawPacket }: UnreadableRequest): Refused {
  if (code === 'HPE_HEADER_OVERFLOW') {
    // A token of any length that is none of ours is refused as one, as far as can be told from what was read.
    if (rawPacket?.toString('latin1').match(OVERLONG_TOKEN)) {
      return [401, 'Unauthorized', 'Unauthorized', unauthorized().message];
    }
    return TOO_LARGE;
  }
  if (code === 'HPE_INVALID_METHOD' && rawPacket && REQUEST_LINE.test(rawPacket.toString('latin1'))) {
    return [405, 'Method Not Allowed', 'MethodNotAllowed', `Only ${KNOWN_METHODS} can be used here`];
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return [408, 'Request Timeout', 'InvalidParameter', 'The request took too long to arrive'];
  }
  return [400, 'Bad Request', 'InvalidParameter', 'The request is not HTTP'];
}
