import { setTimeout as delay } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import { AGE_BUCKETS, type FleetFigures, readFleetFigures } from '../../src/persistence/computers/fleet-figures.sql.ts';
import type { Sql } from '../../src/persistence/database/sql.ts';
import type { Logger } from '../../src/process/logger.ts';
import { throttledErrorLog } from './throttled-error-log.ts';

const EVERY_MS = 30_000;
/** Slow queries run less often: they take at most a twentieth of one connection's time. */
const REST_SHARE = 20;
const LEADERSHIP_CHECK_MS = 1_000;

/** Only in the leading dispatcher: nothing is queried or shown twice. `max` in PromQL bridges a change of leader. */
export function startFleetGauges(options: {
  db: Sql;
  registry: Registry;
  logger: Logger;
  isLeader: () => boolean;
  everyMs?: number;
}): { stop(): Promise<void> } {
  const { db, registry, logger, isLeader, everyMs = EVERY_MS } = options;
  const stopping = new AbortController();
  const logError = throttledErrorLog(logger, { gauges: 'fleet' });
  const rest = (ms: number) => delay(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  const run = async (): Promise<void> => {
    let shown: ReturnType<typeof show> | null = null;
    while (!stopping.signal.aborted) {
      if (!isLeader()) {
        shown?.remove();
        shown = null;
        await rest(Math.min(everyMs, LEADERSHIP_CHECK_MS));
        continue;
      }
      const startedAt = performance.now();
      try {
        const figures = await readFleetFigures(db);
        shown ??= show(registry);
        shown.set(figures);
        logError(null);
      } catch (error) {
        logError(error);
      }
      await rest(Math.max(everyMs, (performance.now() - startedAt) * REST_SHARE));
    }
  };
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

type Values = (figures: FleetFigures) => Record<string, number> | number;

const GAUGES: ReadonlyArray<readonly [name: string, help: string, label: string | null, values: Values]> = [
  ['outbox_rows', 'Outbox commands that wait for a dispatcher, by kind', 'kind', (f) => f.outbox],
  ['outbox_oldest_seconds', 'Age of the oldest outbox command', null, (f) => f.outboxOldestSeconds],
  ['inbox_rows', 'Pending events of batches', null, (f) => f.inbox],
  ['inbox_oldest_seconds', 'Age of the oldest pending event', null, (f) => f.inboxOldestSeconds],
  ['lanes_open', 'Batches with open operations', null, (f) => f.openBatches],
  ['lanes_overdue', 'Open batches whose due time passed over a minute ago', null, (f) => f.overdueBatches],
  [
    'lanes_unopened',
    'Batches created over two minutes ago that no workflow has opened',
    null,
    (f) => f.unopenedBatches,
  ],
  [
    'operations_open',
    'Open operations by age: under a minute, under ten, and so on',
    'age',
    (f) => Object.fromEntries(AGE_BUCKETS.map(({ name }, i) => [name, f.openOperations[i] ?? 0])),
  ],
  ['messages_waiting', 'Messages that have not been acknowledged, by state', 'state', (f) => f.messages],
  ['reports_open', 'Open reports, by state: waiting for a worker, or started', 'state', (f) => f.reports],
  [
    'reports_oldest_seconds',
    'Time since the oldest open report was requested, by state',
    'state',
    (f) => f.reportsOldestSeconds,
  ],
  ['computers', 'Computers by state', 'state', (f) => f.computers],
  ['computers_offline', 'Approved computers that have been silent for five minutes', null, (f) => f.offline],
  ['fleet_figures_timestamp_seconds', 'When the figures of the fleet were read', null, () => Date.now() / 1000],
];

function show(registry: Registry) {
  const shown = GAUGES.map(([what, help, label, values]) => {
    const name = `flotilla_${what}`;
    const gauge = new Gauge<string>({ name, help, labelNames: label === null ? [] : [label], registers: [registry] });
    return { name, gauge, label, values };
  });
  return {
    set: (figures: FleetFigures): void => {
      for (const { gauge, label, values } of shown) {
        const value = values(figures);
        if (typeof value === 'number') gauge.set(value);
        else for (const [key, count] of Object.entries(value)) gauge.set({ [label!]: key }, count);
      }
    },
    remove: (): void => {
      for (const { name } of shown) registry.removeSingleMetric(name);
    },
  };
}
