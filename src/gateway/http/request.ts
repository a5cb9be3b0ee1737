import { DomainError } from '../../domain/common/errors.ts';
import type { IncomingMessage } from 'node:http';
import type { RequestMemory, RequestMemoryLimit } from '../../process/admission/request-memory.ts';

/** Counts memory that is allocated for a body. @throws {DomainError} 503 beyond the memory limit */
export type ChargeMemory = (bytes: number) => void;

export interface RequestBody {
  start: Buffer;
  end: Buffer | null;
}

interface BodyLimits {
  keptBytes: number;
  /** A body longer than `keptBytes` is read up to this length; its middle is discarded. */
  readBytes: number;
}

const END_BYTES = 4096;

/** Counts against `limit`, with what `use` charges, until `use` is done. @throws {DomainError} 400, 413, 415, 503 */
export async function withBody<T>(
  req: IncomingMessage,
  limits: BodyLimits,
  limit: RequestMemoryLimit,
  use: (body: RequestBody, charge: ChargeMemory) => Promise<T>,
): Promise<T> {
  const encoding = req.headers['content-encoding'];
  if (encoding && encoding !== 'identity') {
    throw new DomainError('UnsupportedMediaType', 'The body must not be compressed');
  }
  if (contentLength(req) > limits.readBytes) throw tooLarge();
  const memory = limit.reserve();
  try {
    const body = await collect(req, limits, memory);
    const charge = (bytes: number): void => {
      if (!memory.add(bytes)) throw outOfMemory();
    };
    return await use(body, charge);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ECONNRESET' ? cutOff() : error;
  } finally {
    memory.release();
  }
}

/** The announced length of the body; 0 without one. */
export function contentLength(req: IncomingMessage): number {
  return Number(req.headers['content-length'] ?? 0);
}

// Events instead of an async iterator, which costs several times as much for bodies of usually one chunk.
function collect(
  req: IncomingMessage,
  { keptBytes, readBytes }: BodyLimits,
  memory: RequestMemory,
): Promise<RequestBody> {
  const chunks: Buffer[] = [];
  let size = 0;
  let last: Buffer | null = null;
  return new Promise((resolve, reject) => {
    const abort = (error: Error) => {
      req.off('data', add).off('end', end).pause();
      chunks.length = 0;
      reject(error);
    };
    const add = (chunk: Buffer) => {
      const kept = chunk.subarray(0, Math.max(0, keptBytes - size));
      size += chunk.length;
      if (size > readBytes) return abort(tooLarge());
      if (size > keptBytes) last = lastBytes([...(last ? [last] : chunks), chunk]);
      if (kept.length === 0) return;
      if (!memory.addChunk(kept.length)) return abort(outOfMemory());
      chunks.push(kept);
    };
    const end = () => {
      req.off('close', close);
      resolve({ start: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks), end: last });
    };
    const close = () => reject(cutOff());
    req.on('data', add).once('end', end).on('error', reject).once('close', close);
    if (req.destroyed) reject(cutOff());
  });
}

/** Copied, so that the chunks can be freed. */
function lastBytes(chunks: readonly Buffer[]): Buffer {
  let from = chunks.length;
  for (let bytes = 0; from > 0 && bytes < END_BYTES; bytes += chunks[from]!.length) from--;
  return Buffer.from(Buffer.concat(chunks.slice(from)).subarray(-END_BYTES));
}

function cutOff(): DomainError {
  return new DomainError('InvalidParameter', 'The body was cut off');
}

function outOfMemory(): DomainError {
  return new DomainError('ServiceUnavailable', 'Too much at once');
}

function tooLarge(): DomainError {
  return new DomainError('PayloadTooLarge', 'The body is too large');
}
