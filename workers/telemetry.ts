import { createServer } from 'node:net';
import { DefaultLogger, type LogEntry, type LogLevel, Runtime } from '@temporalio/worker';
import type { Logger } from '../src/logger.ts';

const LOOPBACK = '127.0.0.1';

/** Counts by name, exported beside the SDK's own metrics. */
export type Count = (what: string) => void;

/** The SDK's runtime of this process. */
export interface WorkerRuntime {
  count: Count;
  /** Where the SDK serves its own metrics, on loopback; null when no port was free. */
  metricsUrl: string | null;
}

/**
 * Sets up the SDK's runtime: its log into ours, its metrics on a free port, and signals left to us.
 *
 * @remarks Once per process, before any connection is opened.
 */
export async function installRuntime(logger: Logger): Promise<WorkerRuntime> {
  const port = await freePort();
  Runtime.install({
    logger: new DefaultLogger('INFO', forwarder(logger)),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { forward: {}, filter: 'warn,temporalio_sdk_core=warn,temporalio_client=error' },
      ...(port === null ? {} : { metrics: { prometheus: { bindAddress: `${LOOPBACK}:${port}` } } }),
    },
  });
  const counter = Runtime.instance().metricMeter.createCounter(
    'flotilla_relay_events',
    '1',
    'what the relay did, by kind',
  );
  return {
    count: (what) => counter.add(1, { kind: what }),
    metricsUrl: port === null ? null : `http://${LOOPBACK}:${port}/metrics`,
  };
}

const WARN_EVERY_MS = 10_000;

/** With the database away every step of every workflow fails: the same warning is passed on once per ten seconds. */
function forwarder(logger: Logger): (entry: LogEntry) => void {
  const warnedAt = new Map<string, number>();
  return ({ level, message, meta }) => {
    const now = Date.now();
    if (level === 'WARN') {
      if (now - (warnedAt.get(message) ?? 0) < WARN_EVERY_MS) return;
      warnedAt.set(message, now);
    }
    const { error, ...rest } = { ...meta };
    logger[LEVELS[level]](error === undefined ? rest : { ...rest, err: error }, message);
  };
}

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const satisfies Record<
  LogLevel,
  keyof Logger
>;

function freePort(): Promise<number | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(null));
    probe.listen(0, LOOPBACK, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : null));
    });
  });
}
