import createFetchClient from 'openapi-fetch';
import { ApiError } from './api-error.ts';
import type { CloudEvent, EventType } from './event-types.ts';
import { type EventsOptions, readEvents } from './events.ts';
import { fetchWithRetries } from './retry.ts';
import { type Credentials, isLogin, loginRequest, type Session } from './session.ts';
import type { Call, ListCall } from './types.ts';
import { type Activity, type WaitOptions, waitFor } from './wait-for.ts';

const VERSION = '/api/v2';

export interface ClientOptions {
  /** Of the server, with or without `/api/v2`. */
  url: string;
  credentials?: Credentials;
  /** Called after each login, also when the client has logged in again because the token had expired. */
  onSession?: (session: Session) => void;
  fetch?: typeof fetch;
  userAgent?: string;
}

/**
 * The operations of the API by their methods and paths, typed from its OpenAPI document as by openapi-fetch. Unlike there, an
 * error response is thrown as an {@link ApiError}. Requests that cannot do anything twice are repeated after failures.
 */
export interface FlotillaClient {
  GET: Call<'get'>;
  POST: Call<'post'>;
  PUT: Call<'put'>;
  PATCH: Call<'patch'>;
  DELETE: Call<'delete'>;
  /** Any path below `/api/v2`, without types. @throws {ApiError} */
  request(
    method: string,
    path: string,
    init?: { query?: Readonly<Record<string, string>>; body?: unknown; signal?: AbortSignal },
  ): Promise<{ data: unknown; response: Response }>;
  /** Exchanges the credentials for a token; calls do it when they need one. @throws {ApiError} */
  login(): Promise<Session>;
  /** The pages of a list, each read when it is needed. @throws {ApiError} */
  pages: ListCall<'pages'>;
  /** As `pages`, row by row. */
  items: ListCall<'items'>;
  /**
   * Events in the order of their commits, each once. Following goes on by itself after lost connections, restarts of the
   * server and ends of the token. The `id` of an event is where a later call goes on: `after`. Leaving the loop closes the
   * connection.
   * @throws {ApiError} such as EventsExpired, the error of the network when the first connection fails, or the reason of `signal`
   */
  events<T extends EventType = EventType>(options?: EventsOptions<T>): AsyncIterable<CloudEvent<T>>;
  /**
   * Waits until an activity has ended, whatever its status, also while the server restarts. The server responds when it ends.
   * @throws {ApiError}, {WaitTimeout}, or the reason of `signal`
   */
  waitFor(activityId: number, options?: WaitOptions): Promise<Activity>;
}

type Init = { params?: object; body?: unknown; signal?: AbortSignal; querySerializer?: () => string };
type UntypedCall = (path: string, init?: Init) => Promise<{ data: unknown; response: Response }>;

/** Creates a client of one server. It sends nothing before the first call. */
export function createClient(options: ClientOptions): FlotillaClient {
  const baseUrl = `${options.url.replace(/\/+$/, '').replace(/\/api(\/v2)?$/, '')}${VERSION}`;
  const { send, login } = createSession({ ...options, baseUrl });
  // With the types of the document it would only accept literals here; those of FlotillaClient are what callers see.
  const transport = createFetchClient<Record<string, Record<string, object>>>({ baseUrl, fetch: send });
  const call =
    (method: string): UntypedCall =>
    async (path, init = {}) => {
      const { data, error, response } = await transport.request(method as never, path as never, init as never);
      // 304 without a body is what a request with If-None-Match expects.
      if (!response.ok && response.status !== 304) throw new ApiError(response, error);
      return { data: data as unknown, response };
    };
  const GET = call('get');
  const untyped = {
    ...{ GET, POST: call('post'), PUT: call('put'), PATCH: call('patch'), DELETE: call('delete'), login },
    request(method: string, path: string, { query, ...init }: Init & { query?: object } = {}) {
      const below = path.replace(/^\/api(\/v2)?\//, '/');
      return call(method.toLowerCase())(below, { ...init, params: { query } });
    },
    pages: (path: string, init?: Init) => readPages(GET, path, init),
    async *items(path: string, init?: Init) {
      for await (const { results } of readPages(GET, path, init)) yield* results;
    },
  };
  const client = untyped as unknown as Omit<FlotillaClient, 'waitFor' | 'events'>;
  return {
    ...client,
    events: (events = {}) => readEvents({ baseUrl, send, get: GET }, events),
    waitFor: (id, wait) => waitFor(client.GET, id, wait),
  };
}

/** Sends requests with a token, and obtains one when there is none or it has expired. */
function createSession({
  baseUrl,
  credentials,
  onSession,
  userAgent,
  fetch = globalThis.fetch,
}: ClientOptions & { baseUrl: string }) {
  const byLogin = credentials ? loginRequest(credentials) : null;
  let token = credentials && 'token' in credentials ? credentials.token : null;
  let loggingIn: Promise<Session> | null = null;
  const authorized = (request: Request, signal: AbortSignal): Promise<Response> => {
    if (userAgent) request.headers.set('user-agent', userAgent);
    if (token !== null && !isLogin(request)) request.headers.set('authorization', `Bearer ${token}`);
    return fetch(request, { signal });
  };
  const exchange = async (): Promise<Session> => {
    if (!byLogin) throw new Error('These credentials are a token: there is nothing to log in with');
    const headers = { 'content-type': 'application/json' };
    const request = new Request(`${baseUrl}${byLogin.path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(byLogin.body),
    });
    const response = await fetchWithRetries(request, authorized);
    const body = await response.json().catch(() => null);
    if (!response.ok) throw new ApiError(response, body);
    const session = body as Session;
    token = session.token;
    onSession?.(session);
    return session;
  };
  // Calls that start together share one login.
  const login = () => {
    loggingIn ??= exchange().finally(() => {
      loggingIn = null;
    });
    return loggingIn;
  };
  const send = async (request: Request): Promise<Response> => {
    const canLogIn = byLogin !== null && !isLogin(request);
    if (canLogIn && token === null) await login();
    const used = token;
    const response = await fetchWithRetries(request, authorized);
    if (response.status !== 401 || !canLogIn) return response;
    if (token === used) await login();
    return await fetchWithRetries(request, authorized);
  };
  return { send, login };
}

async function* readPages(get: UntypedCall, path: string, init?: Init): AsyncGenerator<{ results: unknown[] }> {
  let next: string | null = null;
  do {
    // Of a link only the query counts: its host is the public one of the server, which may not be reachable from here.
    const query: string = next === null ? '' : new URL(next).search.slice(1);
    const { data } = await get(path, next === null ? init : { ...init, querySerializer: () => query });
    const page = data as { results: unknown[]; next: string | null };
    yield page;
    next = page.next;
  } while (next !== null);
}
