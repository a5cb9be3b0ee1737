import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createWorkerMetrics } from '../../../workers/metrics.ts';

const START_MS = Date.parse('2026-03-01T12:00:00Z');

function worldOfOne() {
  let nowMs = START_MS;
  const registry = new Registry();
  const metrics = createWorkerMetrics(registry, { now: () => new Date(nowMs) });
  return {
    metrics,
    pass: (seconds: number) => {
      nowMs += seconds * 1000;
    },
    value: async (name: string) => (await registry.getSingleMetric(name)!.get()).values[0]?.value,
  };
}

describe('metrics of the reconciler', () => {
  it('shows what the last run found until runs went to another process for longer than 90 s', async () => {
    const { metrics, pass, value } = worldOfOne();
    expect(await value('flotilla_open_rows_without_workflow')).toBe(0);
    metrics.reconciled({ restarted: 1, closed: 2 }, 0.5);
    pass(89);
    expect(await value('flotilla_open_rows_without_workflow')).toBe(3);
    pass(2);
    expect(await value('flotilla_open_rows_without_workflow')).toBe(0);
    expect(await value('flotilla_reconciler_last_run_timestamp_seconds')).toBe(START_MS / 1000);
    metrics.reconciled({ restarted: 1, closed: 0 }, 0.5);
    expect(await value('flotilla_open_rows_without_workflow')).toBe(1);
  });
});
