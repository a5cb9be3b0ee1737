import { ApiError, createClient, type FlotillaClient, WaitTimeout } from '@flotilla/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const URL_OF_SERVER = 'http://fleet.example';
const BROKEN = new TypeError('fetch failed');
const SNAPS = { body: { action: 'install' as const, computer_ids: [1], snaps: [{ name: 'hello' }] } };

type Outcome = Response | Error;

/** A client whose server gives one outcome after the other, and the last one again and again. */
function clientOf(...outcomes: Outcome[]) {
  const requests: Array<{ method: string; url: string; known: string | null }> = [];
  const fetch = async (input: string | URL | Request): Promise<Response> => {
    const request = input as Request;
    requests.push({ method: request.method, url: request.url, known: request.headers.get('if-none-match') });
    const outcome = outcomes.length > 1 ? outcomes.shift()! : outcomes[0]!;
    if (outcome instanceof Error) throw outcome;
    return outcome.clone();
  };
  return { client: createClient({ url: URL_OF_SERVER, credentials: { token: 't' }, fetch }), requests };
}

function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
}

const failure = (status: number, headers = {}) =>
  json({ error: 'Code', message: 'why', code: status }, status, headers);
const TAG = 'W/"1"';
const NOT_MODIFIED = new Response(null, { status: 304, headers: { etag: TAG } });
const activity = (activity_status: string) => json({ id: 7, activity_status }, 200, { etag: TAG });

/** Lets all pauses pass, and counts what they add up to. */
async function withoutPauses<T>(work: Promise<T>): Promise<{ result: PromiseSettledResult<T>; ms: number }> {
  const start = Date.now();
  const settled = Promise.allSettled([work]);
  await vi.runAllTimersAsync();
  const [result] = await settled;
  return { result: result!, ms: Date.now() - start };
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const get = (client: FlotillaClient): Promise<{ data: unknown }> => client.GET('/computers');
const post = (client: FlotillaClient): Promise<{ data: unknown }> => client.POST('/snaps', SNAPS);
const patch = (client: FlotillaClient): Promise<{ data: unknown }> => client.PATCH('/preferences', { body: {} });

describe('retries', () => {
  it.each([
    ['GET', get, failure(429)],
    ['GET', get, failure(502)],
    ['GET', get, failure(503)],
    ['GET', get, failure(504)],
    ['GET', get, BROKEN],
    ['POST', post, failure(429)],
    ['POST', post, failure(503)],
    ['PATCH', patch, failure(503)],
  ])('%s again, in the end successfully', async (method, call, outcome) => {
    const { client, requests } = clientOf(outcome, outcome, outcome, outcome, json({ ok: true }));
    const { result } = await withoutPauses(call(client));
    expect(result).toMatchObject({ status: 'fulfilled', value: { data: { ok: true } } });
    expect(requests.map((request) => request.method)).toEqual(Array(5).fill(method));
  });

  it.each([
    ['POST', post, failure(502)],
    ['POST', post, failure(504)],
    ['POST', post, failure(500)],
    ['POST', post, BROKEN],
    ['PATCH', patch, BROKEN],
    ['GET', get, failure(500)],
    ['GET', get, failure(404)],
  ])('never %s that may have had an effect or cannot succeed', async (_, call, outcome) => {
    const { client, requests } = clientOf(outcome);
    const { result } = await withoutPauses(call(client));
    expect(result.status).toBe('rejected');
    expect(requests).toHaveLength(1);
  });

  it('give up after five attempts with the last error', async () => {
    const { client, requests } = clientOf(failure(503));
    const { result } = await withoutPauses(get(client));
    expect(result).toMatchObject({ status: 'rejected', reason: { status: 503, code: 'Code' } });
    expect(requests).toHaveLength(5);
  });

  it.each([
    ['ECONNREFUSED', 0, 1750],
    ['ENOTFOUND', 0.5, 2625],
    ['UND_ERR_CONNECT_TIMEOUT', 0.999, 3499],
  ])('give up soon after %s, with %f of the random part of the pauses', async (code, part, expectedMs) => {
    vi.spyOn(Math, 'random').mockReturnValue(part);
    const cause = new AggregateError([Object.assign(new Error('no'), { code })]);
    const { client, requests } = clientOf(new TypeError('fetch failed', { cause }));
    const { result, ms } = await withoutPauses(get(client));
    expect(result.status).toBe('rejected');
    expect(ms).toBe(expectedMs);
    expect(requests).toHaveLength(4);
  });

  it('wait as long as `Retry-After`', async () => {
    const { client } = clientOf(failure(429, { 'retry-after': '20' }), json({}));
    const { result, ms } = await withoutPauses(get(client));
    expect(result.status).toBe('fulfilled');
    expect(ms).toBeGreaterThanOrEqual(20_000);
  });

  it('happen as usual where a proxy sends a date', async () => {
    const { client } = clientOf(failure(503, { 'retry-after': 'Fri, 27 Nov 2026 12:00:00 GMT' }), json({}));
    expect((await withoutPauses(get(client))).result.status).toBe('fulfilled');
  });

  it('leave a wait of more than 30 s to the caller', async () => {
    const { client, requests } = clientOf(failure(429, { 'retry-after': '31' }));
    const { result } = await withoutPauses(get(client));
    expect(result).toMatchObject({ status: 'rejected', reason: { status: 429 } });
    expect(requests).toHaveLength(1);
  });
});

describe('addresses', () => {
  it.each([
    'http://fleet.example',
    'http://fleet.example/',
    'http://fleet.example/api',
    'http://fleet.example/api/v2/',
  ])('%s', async (url) => {
    const requests: string[] = [];
    const fetch = async (input: string | URL | Request) => {
      requests.push((input as Request).url);
      return json({});
    };
    const client = createClient({ url, fetch });
    await get(client);
    await client.request('GET', '/api/v2/computers', { query: { limit: '0' } });
    expect(requests).toEqual([
      'http://fleet.example/api/v2/computers',
      'http://fleet.example/api/v2/computers?limit=0',
    ]);
  });
});

describe('errors', () => {
  it('carry what the API reports', async () => {
    const body = { error: 'InvalidParameter', message: 'no', code: 400, details: [{ path: 'body.a', message: 'no' }] };
    const { client } = clientOf(json(body, 400, { 'x-request-id': 'r1' }));
    const error = await get(client).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 400, code: 'InvalidParameter', message: 'no', requestId: 'r1' });
    expect((error as ApiError).details).toEqual([{ path: 'body.a', message: 'no' }]);
  });

  it('of something else than the API have the status', async () => {
    const { client } = clientOf(new Response('<h1>Forbidden</h1>', { status: 403 }));
    const error = await get(client).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ status: 403, code: 'Unknown', details: [] });
    expect((error as Error).message).toContain('403');
  });
});

describe('waitFor', () => {
  it('lets the server respond when the activity has ended', async () => {
    const { client, requests } = clientOf(activity('undelivered'), NOT_MODIFIED, activity('failed'));
    const { result } = await withoutPauses(client.waitFor(7));
    expect(result).toMatchObject({ status: 'fulfilled', value: { activity_status: 'failed' } });
    const url = `${URL_OF_SERVER}/api/v2/activities/7?wait=50&until=ended`;
    expect(requests.map((request) => [request.url, request.known])).toEqual([
      [url, null],
      [url, TAG],
      [url, TAG],
    ]);
  });

  it('reports progress at the start, and then with every change', async () => {
    const { client, requests } = clientOf(
      activity('undelivered'),
      NOT_MODIFIED,
      activity('delivered'),
      activity('failed'),
    );
    const seen: unknown[] = [];
    const onProgress = (now: { activity_status: unknown }) => void seen.push(now.activity_status);
    await withoutPauses(client.waitFor(7, { onProgress }));
    expect(seen).toEqual(['undelivered', 'delivered', 'failed']);
    expect(requests.map(({ url }) => new URL(url).searchParams.get('wait'))).toEqual(['0', '1', '2', '3']);
  });

  it('goes on when the server has been away, but not for more than two minutes', async () => {
    const away = Array<Outcome>(10).fill(BROKEN);
    const back = await withoutPauses(clientOf(...away, activity('succeeded')).client.waitFor(7));
    expect(back.result).toMatchObject({ status: 'fulfilled', value: { activity_status: 'succeeded' } });
    const gone = await withoutPauses(clientOf(failure(503)).client.waitFor(7));
    expect(gone.result).toMatchObject({ status: 'rejected', reason: { status: 503 } });
    expect(gone.ms).toBeGreaterThan(120_000);
  });

  it('reports an activity that is not there at once', async () => {
    const { client, requests } = clientOf(failure(404));
    await expect(client.waitFor(7)).rejects.toMatchObject({ status: 404 });
    expect(requests).toHaveLength(1);
  });

  it('ends when its time is over', async () => {
    vi.useRealTimers();
    const { client } = clientOf(activity('undelivered'));
    await expect(client.waitFor(7, { timeout: 20 })).rejects.toThrow(WaitTimeout);
  });

  it('does not wait for a connection on which nothing comes any more', async () => {
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      const late = new AbortController();
      setTimeout(() => late.abort(new DOMException('late', 'TimeoutError')), ms);
      return late.signal;
    });
    const requests: Request[] = [];
    const fetch = async (input: string | URL | Request): Promise<Response> => {
      const request = input as Request;
      if (requests.push(request) > 1) return activity('succeeded').clone();
      return new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(request.signal.reason)));
    };
    const client = createClient({ url: URL_OF_SERVER, fetch });
    const { result, ms } = await withoutPauses(client.waitFor(7));
    vi.restoreAllMocks();
    expect(result).toMatchObject({ status: 'fulfilled', value: { activity_status: 'succeeded' } });
    expect(requests).toHaveLength(2);
    expect(ms).toBeGreaterThanOrEqual(80_000);
  });

  it('ends when it is aborted', async () => {
    const { client } = clientOf(activity('undelivered'));
    const stop = new AbortController();
    const waiting = client.waitFor(7, { signal: stop.signal, onProgress: () => stop.abort(new Error('enough')) });
    await expect(waiting).rejects.toThrow('enough');
  });
});
