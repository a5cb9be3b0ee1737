import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type CloudEvent, type ClientOptions, createClient, type EventsOptions } from '@flotilla/client';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { seedOr } from '../../../support/common/random.ts';
import { eventOf, type Fault, idOf, startFeed } from '../../../support/events/feed-stand-in.ts';

const EVENTS = 40;
/** Pauses of the client last so much less. */
const HASTE = 100;

const whole = Array.from({ length: EVENTS }, (_, i) => eventOf(i + 1));
const wait = setTimeout;

beforeEach(() => {
  const hasty = (work: () => void, ms = 0, ...args: []) => wait(work, ms / HASTE, ...args);
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(hasty as typeof setTimeout);
});

afterEach(() => {
  vi.restoreAllMocks();
});

function clientOf(url: string, credentials: ClientOptions['credentials'] = { token: 't' }) {
  return createClient({ url, credentials });
}

/** The first events of the stream. */
async function take(url: string, count: number, options: EventsOptions = {}): Promise<CloudEvent[]> {
  const events: CloudEvent[] = [];
  for await (const event of clientOf(url).events({ after: 'oldest', ...options })) {
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

const bytes = fc.integer({ min: 0, max: 9000 });
const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('cut' as const), bytes }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const), bytes }) },
  fc.record({ kind: fc.constant('status' as const), status: fc.constantFrom(429, 500, 502, 503, 504) }),
  fc.constant({ kind: 'reset' as const }),
);

describe('following events', () => {
  it('yields each once and in order, wherever connections break', async () => {
    // The first connection says where it begins; before that a failure is final.
    const first = fc.record({
      kind: fc.constantFrom('cut' as const, 'end' as const),
      bytes: fc.integer({ min: 40, max: 9000 }),
    });
    await fc.assert(
      fc.asyncProperty(first, fc.array(fault, { maxLength: 12 }), async (one, others) => {
        const feed = await startFeed(EVENTS, [one, ...others]);
        expect(await take(feed.url, EVENTS)).toEqual(whole);
        await feed.close();
      }),
      { seed: seedOr(20_261_127), numRuns: 60 },
    );
  });

  it('goes on after the last event that was yielded, or the cursor before the first', async () => {
    const length = `retry: 1000\n\nid: 0-0\n\n`.length;
    const feed = await startFeed(3, [
      { kind: 'end', bytes: length },
      { kind: 'cut', bytes: 400 },
    ]);
    const cursors: string[] = [];
    const events = await take(feed.url, 3, { onCursor: (cursor) => cursors.push(cursor) });
    expect(events).toHaveLength(3);
    expect(feed.cursors).toEqual(['oldest', '0-0', expect.stringMatching(/^100-[12]$/)]);
    expect(cursors[0]).toBe('0-0');
  });

  it('goes on after a restart of the server, and reports the outage', async () => {
    const first = await startFeed(2, []);
    const outages: unknown[] = [];
    const events: unknown[] = [];
    let second: Awaited<ReturnType<typeof startFeed>> | null = null;
    for await (const event of clientOf(first.url).events({
      after: 'oldest',
      onOutage: (error) => outages.push(error),
    })) {
      events.push(event);
      if (events.length === 2) {
        await first.close();
        wait(async () => (second = await startFeed(3, [], Number(new URL(first.url).port))), 300);
      }
      if (events.length === 3) break;
    }
    expect(events).toEqual(whole.slice(0, 3));
    expect(second!.cursors).toEqual([idOf(2)]);
    expect(outages.length).toBeGreaterThan(1);
  });

  it('takes a silent connection for a lost one', async () => {
    const feed = await startFeed(1, [{ kind: 'end', bytes: 40 }, { kind: 'silence' }]);
    const outages: unknown[] = [];
    expect(await take(feed.url, 1, { onOutage: (error) => outages.push(error) })).toHaveLength(1);
    expect(outages).toMatchObject([{ name: 'SilentConnection' }]);
  });

  it('logs in again when the token has ended', async () => {
    const feed = await startFeed(2, [
      { kind: 'cut', bytes: 250 },
      { kind: 'status', status: 401 },
    ]);
    const events: unknown[] = [];
    const client = clientOf(feed.url, { email: 'a@example.com', password: 'p' });
    for await (const event of client.events({ after: 'oldest' })) if (events.push(event) === 2) break;
    expect(events).toEqual(whole.slice(0, 2));
    expect(new Set(feed.authorizations)).toHaveLength(2);
  });

  it.each([400, 403, 404, 410])('ends with the error of a response with status %i', async (status) => {
    const feed = await startFeed(2, [
      { kind: 'end', bytes: 40 },
      { kind: 'status', status },
    ]);
    await expect(take(feed.url, 2)).rejects.toMatchObject({ name: 'ApiError', status, code: 'Code' });
    expect(feed.cursors).toHaveLength(2);
  });

  it('waits as long as Retry-After', async () => {
    const busy: Fault = { kind: 'status', status: 429, headers: { 'retry-after': '90' } };
    const feed = await startFeed(1, [{ kind: 'end', bytes: 40 }, busy]);
    const startedAt = performance.now();
    await take(feed.url, 1);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(90_000 / HASTE);
  });

  it('fails when the first connection does', async () => {
    const feed = await startFeed(1, []);
    await feed.close();
    await expect(take(feed.url, 1)).rejects.toThrow(TypeError);
  });

  it('closes the connection when the loop is left, and when it is aborted', async () => {
    const feed = await startFeed(1, []);
    await take(feed.url, 1);
    await expect.poll(feed.open).toBe(0);
    const stop = new AbortController();
    const taking = take(feed.url, 2, { signal: stop.signal });
    await expect.poll(feed.open).toBe(1);
    stop.abort(new Error('enough'));
    await expect(taking).rejects.toThrow('enough');
    await expect.poll(feed.open).toBe(0);
  });

  it('rejects a response that is no stream', async () => {
    const feed = await startFeed(1, [{ kind: 'status', status: 200 }]);
    await expect(take(feed.url, 1)).rejects.toThrow('something else than a stream');
  });
});

it('events and waitFor end when they are aborted, also after garbage collections', async () => {
  const feed = await startFeed(1, []);
  // The test runner keeps references that a program does not have.
  const program = ['--expose-gc', 'test/support/events/abort-main.ts', feed.url];
  const { stdout } = await promisify(execFile)(process.execPath, program);
  expect(JSON.parse(stdout)).toEqual(['enough', 'enough']);
});

describe('reading events up to now', () => {
  it('goes from page to page, and reports where each ends', async () => {
    const pages = [
      { events: whole.slice(0, 2), cursor: idOf(2), more: true },
      { events: [], cursor: '105-9', more: true },
      { events: whole.slice(2, 3), cursor: idOf(3), more: false },
    ];
    const requests: string[] = [];
    const fetch = async (input: string | URL | Request) => {
      requests.push(new URL((input as Request).url).search);
      return Response.json(pages[requests.length - 1]);
    };
    const client = createClient({ url: 'http://fleet.example', fetch });
    const cursors: string[] = [];
    const types = ['computer.changed', 'computer.removed'] as const;
    const events: unknown[] = [];
    const onCursor = (cursor: string) => cursors.push(cursor);
    for await (const event of client.events({ after: 'oldest', follow: false, types, onCursor })) events.push(event);
    expect(events).toEqual(whole.slice(0, 3));
    expect(cursors).toEqual([idOf(2), '105-9', idOf(3)]);
    expect(requests.map((query) => new URLSearchParams(query).get('after'))).toEqual(['oldest', idOf(2), '105-9']);
    expect(new URLSearchParams(requests[0]).getAll('types')).toEqual(types);
  });
});
