import { parentPort } from 'node:worker_threads';
import { createBriefReader } from './brief-reading.ts';

/** A report, and digests of the rule sets that need not be told again. */
export interface ReadingRequest {
  report: Uint8Array;
  sets: readonly string[];
}

const read = createBriefReader();

// Reads reports, one after the other.
parentPort?.on('message', ({ report, sets }: ReadingRequest) => parentPort!.postMessage(read(report, sets)));
parentPort?.postMessage('ready');
