import { parentPort } from 'node:worker_threads';
import { createBriefReader } from './brief-reading.ts';

/** A report, and digests of the caller's rule sets. */
export interface ReadingRequest {
  report: Uint8Array;
  sets: readonly string[];
}

const read = createBriefReader();

parentPort?.on('message', ({ report, sets }: ReadingRequest) => parentPort!.postMessage(read(report, sets)));
parentPort?.postMessage('ready');
