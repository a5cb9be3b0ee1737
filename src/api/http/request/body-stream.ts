import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { Request } from 'express';
import { DomainError } from '../../../domain/common/errors.ts';
import type { RequestMemory } from '../../../process/admission/request-memory.ts';

/** As large as the largest body of any operation; a frame could request 16 times as much. */
const ZSTD_WINDOW_LOG = 23;

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } }),
};

/** Measured memory of an idle decoder. */
const DECODER_BYTES = 32 * 1024;
/** A decoder keeps its output as its window. */
const DECODED_COPIES = 2;

/** The connection closes without reading the rest of the body. */
export class RequestMemoryExceeded extends DomainError {
  constructor() {
    super('ServiceUnavailable', 'Too much is being sent at once; try again shortly', { retryAfterSeconds: 1 });
  }
}

/**
 * What a parser of Express reads in place of the request. `fail` gets later errors; the caller releases `memory`.
 * @throws {DomainError} for faults of size (even decompressed), memory, encoding @see docs/reliability.md#bad-input
 */
export function openBody(
  req: Request,
  limitBytes: number,
  memory: RequestMemory,
  fail: (error: DomainError) => void,
): Request {
  const contentLength = Number(req.headers['content-length'] ?? 0);
  if (contentLength > limitBytes) throw tooLarge(limitBytes);
  if (req.destroyed) throw aborted();
  if (!memory.hasRoom(contentLength)) throw new RequestMemoryExceeded();
  const decoder = createDecoder(req);
  if (decoder && !memory.add(DECODER_BYTES)) throw new RequestMemoryExceeded();
  const stop = (error: DomainError): void => {
    fail(error);
    req.removeListener('data', received);
    // The parser frees what it has read.
    if (decoder) req.unpipe(decoder).resume() && decoder.destroy(error);
    else req.emit('error', error);
  };
  const received = counter(limitBytes, (bytes) => decoder !== null || memory.addChunk(bytes), stop);
  req.on('data', received).once('close', () => void (req.complete || stop(aborted())));
  // An error without a listener would end the process.
  req.on('error', () => undefined);
  if (!decoder) return req;
  const decoded = counter(limitBytes, (bytes) => memory.addChunk(DECODED_COPIES * bytes), stop);
  decoder.on('data', decoded).on('error', () => stop(aborted()));
  const headers = { 'transfer-encoding': 'chunked' };
  return Object.assign(req.pipe(decoder), { headers }) as unknown as Request;
}

function createDecoder(req: Request): Transform | null {
  const encoding = (req.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity') return null;
  if (Object.hasOwn(DECODERS, encoding)) return DECODERS[encoding]!();
  throw new DomainError('UnsupportedMediaType', 'The content encoding is not supported');
}

function counter(limitBytes: number, charge: (bytes: number) => boolean, stop: (error: DomainError) => void) {
  let size = 0;
  return (chunk: Buffer): void => {
    size += chunk.length;
    if (size > limitBytes) stop(tooLarge(limitBytes));
    else if (!charge(chunk.length)) stop(new RequestMemoryExceeded());
  };
}

function aborted(): DomainError {
  return new DomainError('InvalidJson', 'The body could not be read completely');
}

function tooLarge(limitBytes: number): DomainError {
  return new DomainError('PayloadTooLarge', `The body must not have more than ${limitBytes} bytes`);
}
