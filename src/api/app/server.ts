import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type ErrorCode, unauthorized } from '../../domain/common/errors.ts';
import { endWithUnreadBody } from '../../process/http-response.ts';
import { errorBody } from '../http/middleware/error-handler.ts';
import { API_HEADERS, JSON_TYPE } from '../http/send.ts';

/** Room for a query of 8 KiB in which every byte is percent-encoded. @see docs/api-conventions.md#query-language */
const MAX_HEADER_BYTES = 32 * 1024;
/** Leaves room for an overlong token, which is rejected as a token and not as a header. */
const MAX_READ_BYTES = 4 * MAX_HEADER_BYTES;

export const SERVER_LIMITS = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  /** How often timeouts are checked; Node's default is half a minute. */
  checkIntervalMs: 2_000,
};
export type ServerLimits = typeof SERVER_LIMITS;

/** 10,000 waiting requests and as many others. */
const MAX_CONNECTIONS = 20_000;
const DRAIN_MS = 2_000;
/** Keep-alive connections become idle one after another. */
const IDLE_SWEEP_MS = 50;

export interface HttpServer {
  readonly port: number;
  /** Accepts no more requests, lets those in flight finish, then closes the remaining connections. */
  close(): Promise<void>;
}

/** Has timeouts for slow clients, and HSTS behind TLS proxies. @throws when the port is in use or not permitted */
export async function listen(
  app: RequestListener,
  at: { host: string; port: number; publicUrl?: string },
  limits: Partial<ServerLimits> = {},
): Promise<HttpServer> {
  const { headersTimeoutMs, requestTimeoutMs, checkIntervalMs } = { ...SERVER_LIMITS, ...limits };
  const responses = new Responses();
  const isPublicByTls = at.publicUrl?.startsWith('https:');
  const server = createServer(
    {
      maxHeaderSize: MAX_READ_BYTES,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: checkIntervalMs,
      // We reject it ourselves, with a body.
      requireHostHeader: false,
    },
    (request, response) => {
      if (!responses.expects(request, response)) return;
      if (isPublicByTls || arrivedByTls(request)) response.setHeader('Strict-Transport-Security', ONE_YEAR);
      const rejection = findRejection(request);
      if (rejection) sendRejection(request, response, rejection);
      else app(request, response);
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    if (responses.expects(request, response))
      sendRejection(request, response, findRejection(request) ?? BAD_EXPECTATION);
  });
  server.on('clientError', (error, socket: Socket) => respondToParseError(responses, error, socket));
  await once(server.listen(at.port, at.host), 'listening');
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

/** The responses of a server whose connections may still need them. */
class Responses {
  readonly #latest = new WeakMap<Socket, ServerResponse>();
  readonly #previous = new WeakMap<ServerResponse, ServerResponse>();
  readonly endingSockets = new WeakSet<Socket>();

  /** False for requests behind a response that closes the connection: the client repeats them. @see RFC 9112 9.6 */
  expects(request: IncomingMessage, response: ServerResponse): boolean {
    const before = this.#latest.get(request.socket);
    if (before && !before.shouldKeepAlive) {
      request.resume();
      return false;
    }
    if (before) {
      // Only one response back is needed: a chain of them would grow with the pipeline.
      this.#previous.delete(before);
      if (!before.closed) this.#previous.set(response, before);
    }
    this.#latest.set(request.socket, response);
    return true;
  }

  /** The one after which the connection can be closed; undefined when the faulty request itself needs a response. */
  last(socket: Socket): ServerResponse | undefined {
    const latest = this.#latest.get(socket);
    if (!latest || precedesFault(latest)) return latest;
    const previous = this.#previous.get(latest);
    return previous?.closed === false ? previous : undefined;
  }
}

const ONE_YEAR = 'max-age=31536000';

/** Any client can send the header, but browsers ignore HSTS on connections without TLS. */
function arrivedByTls({ headers }: IncomingMessage): boolean {
  return headers['x-forwarded-proto'] === 'https';
}

type Rejection = [status: number, code: ErrorCode, message: string];

const TOO_LARGE: Rejection = [431, 'PayloadTooLarge', 'The headers are too large'];
const NO_HOST: Rejection = [400, 'InvalidParameter', 'The request names no host'];
const NOT_FOUND: Rejection = [404, 'NotFound', 'There is nothing at this address'];
const BAD_EXPECTATION: Rejection = [400, 'InvalidParameter', 'Only 100-continue can be expected here'];

function findRejection(request: IncomingMessage): Rejection | null {
  if (areHeadersTooLarge(request)) return TOO_LARGE;
  if (request.httpVersion === '1.1' && request.headers.host === undefined) return NO_HOST;
  return isValidTarget(request.url ?? '') ? null : NOT_FOUND;
}

const ABSOLUTE_URL = /^https?:\/\/[^/?#]{1,255}(?:[/?#]|$)/i;

function isValidTarget(target: string): boolean {
  return target.startsWith('/') || target === '*' || (ABSOLUTE_URL.test(target) && URL.canParse(target));
}

/** The token is not counted: its reader has its own limit. */
function areHeadersTooLarge({ url = '', rawHeaders, headers }: IncomingMessage): boolean {
  let bytes = url.length - (headers.authorization?.length ?? 0);
  for (const text of rawHeaders) bytes += text.length;
  return bytes > MAX_HEADER_BYTES;
}

function sendRejection(request: IncomingMessage, response: ServerResponse, rejection: Rejection): void {
  const { head, body } = formatRejection(rejection);
  response.writeHead(rejection[0], { ...head, Connection: 'close' });
  endWithUnreadBody(request, response, body);
}

function formatRejection(rejection: Rejection) {
  const [status] = rejection;
  const body = JSON.stringify(errorBody(...rejection));
  const head = {
    ...API_HEADERS,
    'X-Request-Id': crypto.randomUUID(),
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(status === 405 && { Allow: KNOWN_METHODS }),
    'Content-Type': JSON_TYPE,
    'Content-Length': body.length,
  };
  return { head, body };
}

type ParseError = NodeJS.ErrnoException & { rawPacket?: Buffer };

const KNOWN_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const REQUEST_LINE = /^[A-Za-z-]{1,40} \/\S* HTTP\/1\.[01]\r\n/;
const OVERLONG_TOKEN = /^authorization:[^\r\n]{8000}/im;

function respondToParseError(responses: Responses, error: ParseError, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  // The parser reports every further chunk.
  if (responses.endingSockets.has(socket)) return;
  const last = responses.last(socket);
  if (last) {
    responses.endingSockets.add(socket);
    if (last.closed) socket.destroySoon();
    else last.once('close', () => socket.destroySoon());
    return;
  }
  const rejection = toRejection(error);
  const { head, body } = formatRejection(rejection);
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`);
  const status = `HTTP/1.1 ${rejection[0]} ${STATUS_CODES[rejection[0]]}`;
  socket.end([status, 'Connection: close', ...lines, '', body].join('\r\n'));
}

function precedesFault({ req, headersSent, closed, shouldKeepAlive }: ServerResponse): boolean {
  return req.complete ? !closed || !shouldKeepAlive : headersSent;
}

function toRejection({ code, rawPacket }: ParseError): Rejection {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const isToken = OVERLONG_TOKEN.test(rawPacket?.toString('latin1') ?? '');
    return isToken ? [401, 'Unauthorized', unauthorized().message] : TOO_LARGE;
  }
  if (code === 'HPE_INVALID_METHOD' && rawPacket && REQUEST_LINE.test(rawPacket.toString('latin1'))) {
    return [405, 'MethodNotAllowed', `Only ${KNOWN_METHODS} can be used here`];
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'InvalidParameter', 'The request took too long to arrive'];
  return [400, 'InvalidParameter', 'The request is not HTTP'];
}
