import { createServer } from 'node:net';
import { DefaultLogger, type LogEntry, type LogLevel, Runtime } from '@temporalio/worker';
import type { Logger } from '../src/logger.ts';

const LOOPBACK = '127.0.0.1';
const PORTS_TO_TRY = 50;

/** Counts by name, exported beside the SDK's own metrics. */
export type Count = (what: string) => void;

/**
 * Sets up the SDK's runtime: its log into ours, its metrics on the next free port, and signals left to us.
 *
 * @param firstPort - where to begin looking for a free port
 * @remarks Once per process, before any connection is opened.
 */
export async function installRuntime(firstPort: number, logger: Logger): Promise<Count> {
  const port = await nextFreePort(firstPort);
  Runtime.install({
    logger: new DefaultLogger('INFO', forwarder(logger)),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { forward: {}, filter: 'warn,temporalio_sdk_core=warn,temporalio_client=error' },
      ...(port === null ? {} : { metrics: { prometheus: { bindAddress: `${LOOPBACK}:${port}` } } }),
    },
  });
  if (port !== null) logger.info({ metrics: `http://${LOOPBACK}:${port}/metrics` }, 'serving metrics');
  const counter = Runtime.instance().metricMeter.createCounter(
    'flotilla_relay_events',
    '1',
    'what the relay did, by kind',
  );
  return (what) => counter.add(1, { kind: what });
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

async function nextFreePort(first: number): Promise<number | null> {
  for (let port = first; port < first + PORTS_TO_TRY && port <= 65_535; port += 1) if (await isFree(port)) return port;
  return null;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, LOOPBACK, () => probe.close(() => resolve(true)));
  });
}
