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
/** A decoder keeps a copy of its output as its window. */
const DECODED_COPIES = 2;

/** The connection closes without reading the rest of the body. */
export class RequestMemoryExceeded extends DomainError {
  constructor() {
    super('ServiceUnavailable', 'Too much is being sent at once; try again shortly', { retryAfterSeconds: 1 });
  }
}

/**
 * Reads and decompresses a body; empty when there is none. The limit applies to the compressed and the decompressed
 * size; beyond it the rest is discarded.
 * @param memory - released by the caller
 * @throws {DomainError} PayloadTooLarge, UnsupportedMediaType on an unknown encoding, InvalidJson when it is aborted or
 * cannot be decompressed, {@link RequestMemoryExceeded}
 * @see docs/reliability.md#bad-input
 */
export function readBodyBytes(req: Request, limitBytes: number, memory: RequestMemory): Promise<Buffer> {
  const contentLength = Number(req.headers['content-length'] ?? 0);
  if (contentLength > limitBytes) return Promise.reject(tooLarge(limitBytes));
  if (contentLength === 0 && req.headers['transfer-encoding'] === undefined) return Promise.resolve(Buffer.alloc(0));
  // A destroyed request emits no more events.
  if (req.destroyed) return Promise.reject(aborted());
  if (!memory.hasRoom(contentLength)) return Promise.reject(new RequestMemoryExceeded());
  const encoding = (req.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity') return collect(req, null, limitBytes, memory);
  if (!Object.hasOwn(DECODERS, encoding)) {
    return Promise.reject(new DomainError('UnsupportedMediaType', 'The content encoding is not supported'));
  }
  if (!memory.add(DECODER_BYTES)) return Promise.reject(new RequestMemoryExceeded());
  return collect(req, DECODERS[encoding]!(), limitBytes, memory);
}

function collect(req: Request, decoder: Transform | null, limitBytes: number, memory: RequestMemory): Promise<Buffer> {
  const source = decoder ?? req;
  const copies = decoder ? DECODED_COPIES : 1;
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    const fail = (error: DomainError): void => {
      reject(error);
      chunks.length = 0;
      for (const stream of [req, source]) stream.removeAllListeners('data');
      if (decoder) req.unpipe(decoder);
      decoder?.destroy();
      req.resume();
    };
    const counter = (keep: boolean) => {
      let size = 0;
      return (chunk: Buffer): void => {
        size += chunk.length;
        if (size > limitBytes) fail(tooLarge(limitBytes));
        else if (keep && memory.addChunk(copies * chunk.length)) chunks.push(chunk);
        else if (keep) fail(new RequestMemoryExceeded());
      };
    };
    const abort = (): void => fail(aborted());
    source.on('data', counter(true));
    source.once('end', () => {
      resolve(Buffer.concat(chunks));
      // The connection keeps the request and with it these listeners.
      chunks.length = 0;
    });
    source.on('error', abort);
    if (decoder) req.on('data', counter(false)).pipe(decoder);
    req.once('close', () => void (req.complete || abort()));
  });
}

function aborted(): DomainError {
  return new DomainError('InvalidJson', 'The body could not be read completely');
}

function tooLarge(limitBytes: number): DomainError {
  return new DomainError('PayloadTooLarge', `The body must not have more than ${limitBytes} bytes`);
}
