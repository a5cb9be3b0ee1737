import { isOutage } from './outage.ts';
import type { components } from './schema.generated.ts';
import { sleep } from './sleep.ts';
import type { Call } from './types.ts';

const ENDED = new Set(['succeeded', 'failed', 'canceled']);
/** Shorter than the minute after which usual proxies give up on a response. */
const MAX_WAIT_S = 50;
/** After which a server that has not responded counts as unavailable. */
const GRACE_MS = 30_000;
/** Between two reads of an activity whose progress is of interest. */
const MAX_PROGRESS_WAIT_S = 5;
const FIRST_PAUSE_MS = 250;
const PAUSE_FACTOR = 1.5;
const MAX_PAUSE_MS = 5000;
/** How long `waitFor` waits for a server that does not respond. */
const MAX_OUTAGE_MS = 120_000;
/** Of JavaScript's timers. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export type Activity = components['schemas']['DetailedActivity'];

/** The activity had not ended when the time of {@link FlotillaClient.waitFor} was over. */
export class WaitTimeout extends Error {
  override readonly name = 'WaitTimeout';
}

export interface WaitOptions {
  /** Milliseconds; default: no limit. */
  timeout?: number;
  signal?: AbortSignal;
  /** Called with the activity at the start, when it has ended, and every few seconds in which it has changed. */
  onProgress?: (activity: Activity) => void;
}

/** `waitFor` of a client. */
export async function waitFor(get: Call<'get'>, id: number, { timeout, signal, onProgress }: WaitOptions = {}) {
  const limit = timeout === undefined ? null : AbortSignal.timeout(Math.min(timeout, MAX_TIMER_MS));
  const stop = AbortSignal.any([limit, signal].filter((part) => part !== null && part !== undefined));
  const read = throughOutages(reader(get, id, stop), stop);
  let pause = FIRST_PAUSE_MS;
  try {
    for (let wait = onProgress ? 0 : MAX_WAIT_S; ; ) {
      const startedAt = performance.now();
      const activity = await read(wait);
      if (activity) onProgress?.(activity);
      if (activity?.activity_status && ENDED.has(activity.activity_status)) return activity;
      const hasWaited = performance.now() - startedAt >= wait * 1000;
      pause = hasWaited ? FIRST_PAUSE_MS : Math.min(pause * PAUSE_FACTOR, MAX_PAUSE_MS);
      if (!hasWaited) await sleep(pause, stop);
      if (onProgress) wait = Math.min(wait + 1, MAX_PROGRESS_WAIT_S);
    }
  } catch (error) {
    if (limit?.aborted) throw new WaitTimeout(`Activity ${id} has not ended in ${timeout} ms`);
    throw error;
  }
}

/** Reads the activity once it has ended, or after so many seconds; null if it has not changed since the last read. */
function reader(get: Call<'get'>, activity_id: number, stop: AbortSignal) {
  let tag: string | null = null;
  return async (wait: number): Promise<Activity | null> => {
    const header = tag === null ? {} : { 'If-None-Match': tag };
    const params = { path: { activity_id }, query: { wait, until: 'ended' as const }, header };
    const signal = AbortSignal.any([stop, AbortSignal.timeout(wait * 1000 + GRACE_MS)]);
    const { data, response } = await get('/activities/{activity_id}', { params, signal });
    tag = response.headers.get('etag');
    return response.status === 304 ? null : data;
  };
}

/** The function, with null in place of errors of the network and of an overloaded server, for at most two minutes. */
function throughOutages<A, T>(
  read: (argument: A) => Promise<T>,
  stop: AbortSignal,
): (argument: A) => Promise<T | null> {
  let failingSince: number | null = null;
  return async (argument) => {
    try {
      const result = await read(argument);
      failingSince = null;
      return result;
    } catch (error) {
      stop.throwIfAborted();
      failingSince ??= Date.now();
      if (!isOutage(error) || Date.now() - failingSince > MAX_OUTAGE_MS) throw error;
      return null;
    }
  };
}
