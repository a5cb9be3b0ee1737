import { parentPort } from 'node:worker_threads';
import { readAuditReport } from './read-report.ts';

// Reads reports, one after the other.
parentPort?.on('message', (bytes: Uint8Array) => parentPort!.postMessage(readAuditReport(bytes)));
parentPort?.postMessage('ready');
