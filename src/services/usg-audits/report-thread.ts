import { parentPort } from 'node:worker_threads';
import { BenchmarkCache } from './benchmark-cache.ts';
import { readAuditReport } from './read-report.ts';

const known = new BenchmarkCache();

// Reads reports, one after the other.
parentPort?.on('message', (bytes: Uint8Array) => parentPort!.postMessage(readAuditReport(bytes, known)));
parentPort?.postMessage('ready');
