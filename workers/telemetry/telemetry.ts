import { createServer } from 'node:net';
import { DefaultLogger, type LogEntry, type LogLevel, Runtime } from '@temporalio/worker';
import type { Logger } from '../../src/process/logger.ts';
import { AGENT_FAILURE_MESSAGES } from '../../workflows/contracts/failures.ts';

const LOOPBACK = '127.0.0.1';
/** Includes the 5 s and 300 s that alerts use: the SDK's own bounds jump from 100 s to 1,000 s. */
const ACTIVITY_WAIT_SECONDS = [0.1, 0.5, 1, 5, 10, 60, 300, 1_800, 7_200];

/** Call it before any connection is opened. The SDK logs to ours and serves its metrics on a free loopback port. */
export async function installRuntime(logger: Logger): Promise<{ metricsUrl: string }> {
  const address = `${LOOPBACK}:${await freePort()}`;
  Runtime.install({
    logger: new DefaultLogger('INFO', forwarder(logger)),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { forward: {}, filter: 'warn,temporalio_sdk_core=warn,temporalio_client=error' },
      metrics: {
        prometheus: {
          bindAddress: address,
          countersTotalSuffix: true,
          unitSuffix: true,
          useSecondsForDurations: true,
          histogramBucketOverrides: { activity_schedule_to_start_latency: ACTIVITY_WAIT_SECONDS },
        },
      },
    },
  });
  return { metricsUrl: `http://${address}/metrics` };
}

const WARN_EVERY_MS = 10_000;

/** When the database is down, every activity fails: the same warning is forwarded once per ten seconds. */
function forwarder(logger: Logger): (entry: LogEntry) => void {
  const warnedAt = new Map<string, number>();
  return ({ level, message, meta }) => {
    const now = Date.now();
    if (isAgentFailure(message, meta?.['error'])) {
      const { error: _, ...about } = { ...meta };
      logger.info(about, 'an operation failed on its computer');
      return;
    }
    if (level === 'WARN') {
      if (now - (warnedAt.get(message) ?? 0) < WARN_EVERY_MS) return;
      warnedAt.set(message, now);
    }
    const { error, ...rest } = { ...meta };
    logger[LEVELS[level]](error === undefined ? rest : { ...rest, err: error }, message);
  };
}

const AGENT_FAILURES: ReadonlySet<string> = new Set(Object.values(AGENT_FAILURE_MESSAGES));

/** Whether a workflow failed only because an operation failed on a computer. Only the error's message arrives here. */
function isAgentFailure(message: string, error: unknown): boolean {
  return message === 'Workflow failed' && error instanceof Error && AGENT_FAILURES.has(error.message);
}

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const satisfies Record<
  LogLevel,
  keyof Logger
>;

/** Asks the system for a free port: the SDK does not report the one it chose. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, LOOPBACK, () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
