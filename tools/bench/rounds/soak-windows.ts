import { setTimeout as sleep } from 'node:timers/promises';
import { type Latency, linearSlope, slopeError, sum } from '../harness/statistics.ts';
import type { Usage } from '../harness/usage.ts';
import type { Api } from '../product/api.ts';

/** A stretch of the soak. */
export interface SoakWindow {
  /** From the start of the soak to the end of the window. */
  hours: number;
  latencyMs: Latency;
  tableBytes: number;
  usage: Usage;
}

const GROUP_EVERY_MS = 10_000;

/** Growth of a value, in percent of its mean. */
export interface HourlyTrend {
  percent: number;
  /** Standard error: a smaller trend may be chance. */
  error: number;
}

/**
 * Hourly growth of a value by the least-squares line through all its points.
 * @throws {RangeError} when there are fewer than three points or fewer than two different moments
 */
export function hourlyTrend(points: ReadonlyArray<{ hours: number; value: number }>): HourlyTrend {
  const share = 100 / (sum(points.map(({ value }) => value)) / points.length);
  const line = points.map(({ hours, value }) => ({ x: hours, y: value }));
  return { percent: linearSlope(line) * share, error: slopeError(line) * share };
}

/** Requests an action on all computers every ten seconds until stopped; `stop` returns all ids. */
export function startGroups(api: Api, computerIds: readonly number[]): { stop(): Promise<number[]> } {
  const created: number[] = [];
  let isStopping = false;
  const run = async () => {
    while (!isStopping) {
      const action = created.length % 2 === 0 ? 'install' : 'remove';
      const body = { action, computer_ids: computerIds, snaps: [{ name: 'hello-world' }] };
      created.push((await api.call<{ id: number }>('POST', '/snaps', body)).id);
      for (let waited = 0; waited < GROUP_EVERY_MS && !isStopping; waited += 100) await sleep(100);
    }
  };
  const running = run();
  // Reported by `stop`.
  running.catch(() => undefined);
  return {
    async stop() {
      isStopping = true;
      await running;
      return created;
    },
  };
}
