import type { AuditReading } from '../../../domain/compliance/audit-report.ts';
import { createWorkerThread } from '../../common/worker-thread.ts';
import type { BriefReading } from './brief-reading.ts';
import type { ReadingRequest } from './report-thread.ts';

/** Real reports of several MB take a fraction of a second. */
const LIMIT_MS = 30_000;
const MEMORY_MB = 512;

/**
 * Never throws because of the content. @param sets - digests of rule sets whose reports may be returned as results only
 */
export type ReportReader = (report: Uint8Array, sets?: readonly string[]) => Promise<AuditReading | BriefReading>;

/** Parses reports in a worker thread, so that the event loop is not blocked. */
export function createReportReader(limitMs = LIMIT_MS): ReportReader {
  const thread = createWorkerThread<ReadingRequest, AuditReading | BriefReading>({
    module: new URL('./report-thread.ts', import.meta.url),
    memoryMb: MEMORY_MB,
    limitMs,
    purpose: 'reads audit reports',
  });
  return async (report, sets = []) => {
    try {
      return (await thread.request({ report, sets })) ?? { reason: 'the report takes too long to read' };
    } catch (error) {
      if (isOutOfMemory(error)) return { reason: 'the report takes too much memory to read' };
      throw error;
    }
  };
}

function isOutOfMemory(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
