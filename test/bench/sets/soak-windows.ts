import { type Latency, linearSlope, slopeError, sum } from '../harness/statistics.ts';
import type { Usage } from '../harness/usage.ts';
import { pause } from '../harness/wait.ts';
import type { Api } from '../product/api.ts';

/** A stretch of the soak. */
export interface SoakWindow {
  /** Since the beginning, at its end. */
  hours: number;
  latencyMs: Latency;
  tableBytes: number;
  usage: Usage;
}

/** How often each computer has something to do, and in how many groups they take turns. */
const TURN_MS = 10_000;
const GROUPS_A_TURN = 4;

/** How a value grows; percents of its mean. */
export interface HourlyTrend {
  percent: number;
  /** Standard error of it: a trend that is smaller may be chance. */
  error: number;
}

/**
 * How much a value grows in an hour by the straight line through all its points.
 *
 * @throws {RangeError} when there are fewer than three points or not two different moments
 */
export function hourlyTrend(points: ReadonlyArray<{ hours: number; value: number }>): HourlyTrend {
  const share = 100 / (sum(points.map(({ value }) => value)) / points.length);
  const line = points.map(({ hours, value }) => ({ x: hours, y: value }));
  return { percent: linearSlope(line) * share, error: slopeError(line) * share };
}

/** What was ordered in a soak. */
export interface Ordered {
  ids: number[];
  /** Operations in all of them. */
  operations: number;
}

/**
 * Orders an action on every computer each ten seconds until it is stopped, a quarter of them at a time.
 *
 * @remarks In one group of all, what is slow while it is accepted and handed out was about one list in a hundred, so that
 * the p99 fell now beside it and now into it.
 */
export function startGroups(api: Api, computerIds: readonly number[]): { stop(): Promise<Ordered> } {
  const ordered: Ordered = { ids: [], operations: 0 };
  const each = Math.ceil(computerIds.length / GROUPS_A_TURN);
  let isStopping = false;
  const turn = async (action: 'install' | 'remove') => {
    for (let from = 0; from < computerIds.length && !isStopping; from += each) {
      const computers = computerIds.slice(from, from + each);
      const body = { action, computer_ids: computers, snaps: [{ name: 'hello-world' }] };
      ordered.ids.push((await api.call<{ id: number }>('POST', '/snaps', body)).id);
      ordered.operations += computers.length;
      for (let waited = 0; waited < TURN_MS / GROUPS_A_TURN && !isStopping; waited += 100) await pause(100);
    }
  };
  const run = async () => {
    for (let turns = 0; !isStopping; turns++) await turn(turns % 2 === 0 ? 'install' : 'remove');
  };
  const running = run();
  // Told to whoever stops it.
  running.catch(() => undefined);
  return {
    async stop() {
      isStopping = true;
      await running;
      return ordered;
    },
  };
}
