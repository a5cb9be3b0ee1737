import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { AuditReading } from '../../../domain/compliance/audit-report.ts';
import { DomainError } from '../../../domain/common/errors.ts';
import { ConcurrencyLimiter } from '../../../process/admission/concurrency-limiter.ts';
import type { BriefReading, ReadingRequest } from './report-thread.ts';

/** Real reports of several MB take a fraction of a second. */
const LIMIT_MS = 30_000;
const MEMORY_MB = 512;
/** A second on an idle machine; long enough for a loaded one. */
const START_TIMEOUT_MS = 60_000;
/** Terminates a thread without processor time after this multiple of its limit in wall-clock time. */
const MAX_TIME_CHECKS = 20;
/** Share of the limit that counts as all of it: some processor time is overhead. */
const CPU_TOLERANCE = 0.8;

/** Never throws because of the content. @param sets - digests of rule sets whose reports may be results only */
export type ReportReader = (report: Uint8Array, sets?: readonly string[]) => Promise<AuditReading | BriefReading>;

/** One at a time, in a thread that does not keep the process alive. `limitMs`: processor time per report. */
export function createReportReader(limitMs = LIMIT_MS): ReportReader {
  const pool = new Piscina<ReadingRequest, AuditReading | BriefReading>({
    filename: new URL('./report-thread.ts', import.meta.url).href,
    ...{ minThreads: 0, maxThreads: 1, idleTimeout: Number.POSITIVE_INFINITY, recordTiming: false },
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  const turns = new ConcurrencyLimiter({ concurrency: 1 });
  return (report, sets = []) => turns.run('', () => readInThread(pool, { report, sets }, limitMs));
}

async function readInThread(
  pool: Piscina<ReadingRequest, AuditReading | BriefReading>,
  request: ReadingRequest,
  limitMs: number,
): Promise<AuditReading | BriefReading> {
  await startThread(pool);
  const timeout = new AbortController();
  const timer = abortAfter(pool.threads[0]!, limitMs, timeout);
  try {
    return await pool.run(request, { signal: timeout.signal });
  } catch (error) {
    if (timeout.signal.aborted) return { reason: 'the report takes too long to read' };
    if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY')
      return { reason: 'the report takes too much memory to read' };
    throw error;
  } finally {
    clearInterval(timer);
  }
}

async function startThread(pool: Piscina): Promise<void> {
  const signal = AbortSignal.timeout(START_TIMEOUT_MS);
  try {
    await pool.run(null, { name: 'start', signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    const message = 'The thread that reads audit reports did not start in time; try again';
    throw new DomainError('ServiceUnavailable', message, { retryAfterSeconds: 5 });
  }
}

function abortAfter(thread: Worker, limitMs: number, timeout: AbortController): NodeJS.Timeout {
  const before = thread.cpuUsage().catch(() => undefined);
  let checks = 0;
  return setInterval(async () => {
    checks += 1;
    const used = await thread.cpuUsage(await before).catch(() => null);
    const isOver = used === null || (used.user + used.system) / 1000 >= limitMs * CPU_TOLERANCE;
    if (isOver || checks >= MAX_TIME_CHECKS) timeout.abort();
  }, limitMs);
}
