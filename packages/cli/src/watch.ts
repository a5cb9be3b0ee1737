import { type components, type FlotillaClient, WaitTimeout } from '@flotilla/client';
import type { Cli } from './cli.ts';
import { EXIT, type ExitCode } from './errors.ts';
import { interruptible } from './interrupt.ts';
import { type Counts, openProgress } from './output/progress.ts';

export type DetailedActivity = components['schemas']['DetailedActivity'];

/** Activities that are polled at the same time. */
const CONCURRENCY = 20;
const MAX_SHOWN_IDS = 20;

export interface WatchOptions {
  /** Milliseconds after which the watch ends; null for never. */
  timeout: number | null;
}

/**
 * Shows the progress of activities until all have ended or wait for approval.
 *
 * @returns the activities in the order of their ids; null after the timeout or Ctrl-C, which leave them running
 */
export async function watch(
  cli: Cli,
  client: FlotillaClient,
  ids: readonly number[],
  { timeout }: WatchOptions,
): Promise<DetailedActivity[] | null> {
  const counts = new Map<number, Counts>(ids.map((id) => [id, { unknown: 1 }]));
  const deadline = timeout === null ? null : performance.now() + timeout;
  const ended = await interruptible(async (signal) => {
    const progress = await openProgress(cli.runtime.stderr);
    const onProgress = (activity: DetailedActivity) =>
      progress.update(sumOf(counts.set(activity.id, countsOf(activity)).values()));
    try {
      return await waitForAll(client, ids, { deadline, signal, onProgress });
    } catch (error) {
      if (signal.aborted || error instanceof WaitTimeout) return null;
      throw error;
    } finally {
      progress.stop();
    }
  });
  if (ended === null) cli.exitCode = EXIT.unfinished;
  return ended;
}

/** Prints the command that shows the further progress of activities. */
export function printHowToContinue(cli: Cli, ids: readonly number[]): void {
  const hint = ids.length > MAX_SHOWN_IDS ? 'flotilla activities list' : `flotilla activities watch ${ids.join(' ')}`;
  cli.output.note(`To see what becomes of it: ${hint}`);
}

/** The exit code for the states of activities. */
export function exitCodeOf(activities: ReadonlyArray<{ activity_status: string | null }>): ExitCode {
  const has = (status: string) => activities.some(({ activity_status }) => activity_status === status);
  if (has('failed')) return EXIT.failed;
  if (has('unapproved')) return EXIT.unapproved;
  return has('canceled') ? EXIT.canceled : EXIT.succeeded;
}

/** The operations of a group by their status; an activity without operations counts itself. */
export function countsOf({
  activity_status,
  children,
}: Pick<DetailedActivity, 'activity_status' | 'children'>): Counts {
  const statuses = children.length > 0 ? children.map((child) => child.activity_status) : [activity_status];
  return sumOf(statuses.map((status) => ({ [status]: 1 })));
}

interface WaitOptions {
  deadline: number | null;
  signal: AbortSignal;
  onProgress: (activity: DetailedActivity) => void;
}

async function waitForAll(
  client: FlotillaClient,
  ids: readonly number[],
  options: WaitOptions,
): Promise<DetailedActivity[]> {
  const queue = ids.entries();
  const ended: DetailedActivity[] = [];
  const work = async () => {
    for (const [i, id] of queue) {
      const activity = await waitForOne(client, id, options);
      options.onProgress(activity);
      ended[i] = activity;
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, ids.length) }, work));
  return ended;
}

/** Waits for the end of an activity, or until it turns out to wait for approval. */
async function waitForOne(client: FlotillaClient, id: number, options: WaitOptions): Promise<DetailedActivity> {
  const unapproved = new AbortController();
  let last: DetailedActivity | null = null;
  try {
    return await client.waitFor(id, {
      ...(options.deadline === null ? {} : { timeout: Math.max(1, Math.ceil(options.deadline - performance.now())) }),
      signal: AbortSignal.any([options.signal, unapproved.signal]),
      onProgress(activity) {
        last = activity;
        options.onProgress(activity);
        if (activity.activity_status === 'unapproved') unapproved.abort();
      },
    });
  } catch (error) {
    if (last !== null && unapproved.signal.aborted) return last;
    throw error;
  }
}

function sumOf(all: Iterable<Counts>): Counts {
  const sum: Record<string, number> = {};
  for (const counts of all) {
    for (const [status, count] of Object.entries(counts)) sum[status] = (sum[status] ?? 0) + count;
  }
  return sum;
}
