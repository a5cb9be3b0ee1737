import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { Request } from 'express';
import { DomainError } from '../../domain/errors.ts';

/** As much as the largest body of any route; a frame may ask for 16 times as much, before anybody knows who sends it. */
const ZSTD_WINDOW_LOG = 23;

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } }),
};

/**
 * Reads a body up to a limit, whatever it is; empty when there is none. Both what is sent and what it unpacks to are
 * held to the limit, and nothing is waited for once it is passed: the rest flows away unread.
 *
 * @throws {DomainError} PayloadTooLarge, UnsupportedMediaType on an unknown encoding, InvalidJson when it breaks off or
 * cannot be unpacked
 * @see perf-reliability B3, BODY-big
 */
export function readBodyBytes(req: Request, limitBytes: number): Promise<Buffer> {
  const sentBytes = Number(req.headers['content-length'] ?? 0);
  if (sentBytes > limitBytes) return Promise.reject(tooLarge(limitBytes));
  if (sentBytes === 0 && req.headers['transfer-encoding'] === undefined) return Promise.resolve(Buffer.alloc(0));
  const encoding = (req.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity') return collect(req, null, limitBytes);
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding]!() : null;
  if (decoder) return collect(req, decoder, limitBytes);
  return Promise.reject(new DomainError('UnsupportedMediaType', 'The content encoding is not known here'));
}

function collect(req: Request, decoder: Transform | null, limitBytes: number): Promise<Buffer> {
  const source = decoder ?? req;
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
        else if (keep) chunks.push(chunk);
      };
    };
    const breakOff = (): void => fail(new DomainError('InvalidJson', 'The body could not be read whole'));
    source.on('data', counter(true));
    source.once('end', () => resolve(Buffer.concat(chunks)));
    source.on('error', breakOff);
    if (decoder) req.on('data', counter(false)).pipe(decoder);
    req.once('close', () => void (req.complete || breakOff()));
  });
}

function tooLarge(limitBytes: number): DomainError {
  return new DomainError('PayloadTooLarge', `The body must not have more than ${limitBytes} bytes`);
}
