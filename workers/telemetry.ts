import { createServer } from 'node:net';
import { DefaultLogger, type LogEntry, type LogLevel, Runtime } from '@temporalio/worker';
import type { Logger } from '../src/process/logger.ts';
import { AGENT_FAILURE_MESSAGES } from '../workflows/contracts/failures.ts';

const LOOPBACK = '127.0.0.1';
/** With the 5 s and 300 s that alerts ask about: the SDK's own bounds go from 100 s to 1,000 s. */
const ACTIVITY_WAIT_SECONDS = [0.1, 0.5, 1, 5, 10, 60, 300, 1_800, 7_200];

/** The SDK's runtime of this process. */
export interface WorkerRuntime {
  /** Where the SDK serves its own metrics, on loopback. */
  metricsUrl: string;
}

/**
 * Sets up the SDK's runtime: its log into ours, its metrics on a free port, and signals left to us.
 * @remarks Once per process, before any connection is opened.
 */
export async function installRuntime(logger: Logger): Promise<WorkerRuntime> {
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

/** With the database away every step of every workflow fails: the same warning is passed on once per ten seconds. */
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

/**
 * A workflow that closes as failed because a computer said no: its activity shows it, and nothing is wrong here. Of an
 * error that comes out of the workflow's thread only the message is left.
 */
function isAgentFailure(message: string, error: unknown): boolean {
  return message === 'Workflow failed' && error instanceof Error && AGENT_FAILURES.has(error.message);
}

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const satisfies Record<
  LogLevel,
  keyof Logger
>;

/** A port that the system has to give: the SDK does not tell which one it got. */
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
