import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createWorkerMetrics } from '../../../../workers/telemetry/metrics.ts';

const NOW = new Date('2026-03-01T12:00:00Z');

function worldOfOne() {
  const registry = new Registry();
  const metrics = createWorkerMetrics(registry, { now: () => NOW });
  return {
    metrics,
    lines: async (name: string) => {
      const text = await registry.getSingleMetricAsString(name);
      return text.split('\n').filter((line) => line.startsWith(name));
    },
  };
}

describe('metrics of repairs', () => {
  it('start at 0 and count into one, whoever found the row', async () => {
    const { metrics, lines } = worldOfOne();
    metrics.repaired('relay', 'restarted');
    metrics.repaired('reconciler', 'closed');
    metrics.repaired('reconciler', 'closed');
    expect(await lines('flotilla_repairs_total')).toEqual([
      'flotilla_repairs_total{found_by="relay",outcome="restarted"} 1',
      'flotilla_repairs_total{found_by="relay",outcome="closed"} 0',
      'flotilla_repairs_total{found_by="reconciler",outcome="restarted"} 0',
      'flotilla_repairs_total{found_by="reconciler",outcome="closed"} 2',
    ]);
  });
});

describe('metrics of the reconciler', () => {
  it('show when it last completed in this process, and how long that took', async () => {
    const { metrics, lines } = worldOfOne();
    const at = 'flotilla_reconciler_last_run_timestamp_seconds';
    expect(await lines(at)).toEqual([`${at} 0`]);
    metrics.reconciled(0.5);
    expect(await lines(at)).toEqual([`${at} ${NOW.getTime() / 1000}`]);
    const seconds = 'flotilla_reconciler_last_run_duration_seconds';
    expect(await lines(seconds)).toEqual([`${seconds} 0.5`]);
  });
});
