import { createParser } from 'eventsource-parser';
import { ApiError } from './api-error.ts';
import type { CloudEvent, EventType } from './event-types.ts';
import { isOutage, SilentConnection } from './outage.ts';
import type { components } from './schema.generated.ts';
import { sleep } from './sleep.ts';

const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 5000;
/** The server sends something every 15 s. */
const MAX_SILENCE_MS = 45_000;
const PAGE = 1000;

export interface EventsOptions<T extends EventType = EventType> {
  /** Where to begin: after the event of this id or another cursor, `oldest`, or `latest`, the default. */
  after?: string;
  /** Only events of these types. */
  types?: readonly T[];
  /** Only events about computers that this query of `GET /computers` finds, and about the activities on them. */
  query?: string;
  /** Ends the iteration with its reason as the error. */
  signal?: AbortSignal;
  /** Whether to wait for further events, the default, or to end when all up to now have been read. */
  follow?: boolean;
  /** Called with cursors that come without an event: where a connection begins, or, without following, a page ends. */
  onCursor?: (cursor: string) => void;
  /** Called with the reason when following is interrupted; it goes on by itself. */
  onOutage?: (error: unknown) => void;
}

/** What the events are read with. `send` logs in, and repeats requests. */
interface Transport {
  baseUrl: string;
  send: (request: Request) => Promise<Response>;
  get: (path: string, init: { params: object; signal?: AbortSignal }) => Promise<{ data: unknown }>;
}

/** `events` of a client. */
export function readEvents<T extends EventType>(transport: Transport, options: EventsOptions<T>) {
  const events = options.follow === false ? readPages(transport, options) : follow(transport, options);
  // The server sends no other types than those of the request.
  return events as AsyncIterable<CloudEvent<T>>;
}

async function* readPages({ get }: Transport, options: EventsOptions): AsyncGenerator<CloudEvent> {
  const { after = 'latest', types, query, signal, onCursor } = options;
  for (let cursor = after, more = true; more; ) {
    const params = { query: { after: cursor, types, query, limit: PAGE } };
    const page = (await get('/events', { params, ...(signal && { signal }) }))
      .data as components['schemas']['EventFeed'];
    yield* page.events as CloudEvent[];
    ({ cursor, more } = page);
    onCursor?.(cursor);
  }
}

async function* follow(transport: Transport, options: EventsOptions): AsyncGenerator<CloudEvent> {
  const { signal = new AbortController().signal, onCursor, onOutage } = options;
  let cursor: string | null = null;
  for (let failures = 0; ; failures += 1) {
    let minPauseMs = 0;
    try {
      for await (const message of readStream(transport, streamRequest(transport, options, cursor), signal)) {
        failures = 0;
        cursor = message.cursor;
        if (message.event) yield message.event;
        else onCursor?.(cursor);
      }
    } catch (error) {
      signal.throwIfAborted();
      // An address that has never worked is more likely to be wrong.
      if (cursor === null || !isOutage(error)) throw error;
      if (error instanceof ApiError) minPauseMs = error.retryAfterMs;
      onOutage?.(error);
    }
    // Clients that were interrupted together must not come back together.
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS) * (0.5 + Math.random() / 2);
    await sleep(Math.max(pauseMs, minPauseMs), signal);
  }
}

function streamRequest({ baseUrl }: Transport, options: EventsOptions, cursor: string | null): Request {
  const { after = 'latest', types, query } = options;
  const parameters = new URLSearchParams({ after });
  if (types) parameters.set('types', types.join(','));
  if (query !== undefined) parameters.set('query', query);
  const headers = { accept: 'text/event-stream', ...(cursor !== null && { 'Last-Event-ID': cursor }) };
  return new Request(`${baseUrl}/events:stream?${parameters}`, { headers });
}

interface Message {
  cursor: string;
  event: CloudEvent | null;
}

/** The messages of one connection, which is closed when the iteration ends. */
async function* readStream({ send }: Transport, request: Request, signal: AbortSignal): AsyncGenerator<Message> {
  const connection = new AbortController();
  const stop = AbortSignal.any([connection.signal, signal]);
  const watched = <T>(work: Promise<T>) => endWhenSilent(connection, work);
  try {
    const response = await watched(send(new Request(request, { signal: stop })));
    if (!response.ok) throw new ApiError(response, await response.json().catch(() => null));
    if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) {
      throw new Error('The server responded with something else than a stream of events');
    }
    let messages: Message[] = [];
    const parser = createParser({
      onId: (cursor) => messages.push({ cursor, event: null }),
      onEvent(message) {
        const event = JSON.parse(message.data) as CloudEvent;
        if (message.id !== undefined) messages.pop();
        messages.push({ cursor: event.id, event });
      },
    });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    // Not left to fetch: the link between its signal and a response that lasts does not survive garbage collection.
    stop.addEventListener('abort', () => void reader.cancel().catch(() => undefined));
    for (;;) {
      const { done, value } = await watched(reader.read());
      stop.throwIfAborted();
      if (done) return;
      parser.feed(value);
      yield* messages;
      messages = [];
    }
  } finally {
    connection.abort();
  }
}

async function endWhenSilent<T>(connection: AbortController, work: Promise<T>): Promise<T> {
  const end = () => connection.abort(new SilentConnection(`Nothing came for ${MAX_SILENCE_MS / 1000} s`));
  const timer = setTimeout(end, MAX_SILENCE_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
