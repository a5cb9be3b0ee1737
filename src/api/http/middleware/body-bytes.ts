import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { Request } from 'express';
import type { HeldBody } from '../../../process/body-budget.ts';
import { DomainError } from '../../../domain/common/errors.ts';

/** As much as the largest body of any route; a frame may ask for 16 times as much, before anybody knows who sends it. */
const ZSTD_WINDOW_LOG = 23;

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } }),
};

/** What an unpacker takes before it has unpacked anything, as measured. */
const DECODER_BYTES = 32 * 1024;
/** It looks back at what it has unpacked: that is there twice, until it is done. */
const UNPACKED_COPIES = 2;

/** The refusal of a body for which there is no room now; what is left of it is not waited for. */
export class NoRoomForBody extends DomainError {
  constructor() {
    super('ServiceUnavailable', 'Too much is being sent at once; try again shortly', { retryAfterSeconds: 1 });
  }
}

/**
 * Reads a body up to a limit, whatever it is; empty when there is none. Both what is sent and what it unpacks to are
 * held to the limit, and nothing is waited for once it is passed: the rest flows away unread.
 *
 * @param held - counts what is kept; the caller releases it
 * @throws {DomainError} PayloadTooLarge, UnsupportedMediaType on an unknown encoding, InvalidJson when it breaks off or
 * cannot be unpacked, {@link NoRoomForBody}
 * @see docs/reliability.md#bad-input
 */
export function readBodyBytes(req: Request, limitBytes: number, held: HeldBody): Promise<Buffer> {
  const sentBytes = Number(req.headers['content-length'] ?? 0);
  if (sentBytes > limitBytes) return Promise.reject(tooLarge(limitBytes));
  if (sentBytes === 0 && req.headers['transfer-encoding'] === undefined) return Promise.resolve(Buffer.alloc(0));
  // It tells nothing any more, not even its end.
  if (req.destroyed) return Promise.reject(brokenOff());
  if (!held.hasRoom(sentBytes)) return Promise.reject(new NoRoomForBody());
  const encoding = (req.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity') return collect(req, null, limitBytes, held);
  if (!Object.hasOwn(DECODERS, encoding)) {
    return Promise.reject(new DomainError('UnsupportedMediaType', 'The content encoding is not known here'));
  }
  if (!held.take(DECODER_BYTES)) return Promise.reject(new NoRoomForBody());
  return collect(req, DECODERS[encoding]!(), limitBytes, held);
}

function collect(req: Request, decoder: Transform | null, limitBytes: number, held: HeldBody): Promise<Buffer> {
  const source = decoder ?? req;
  const copies = decoder ? UNPACKED_COPIES : 1;
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
        else if (keep && held.takePiece(copies * chunk.length)) chunks.push(chunk);
        else if (keep) fail(new NoRoomForBody());
      };
    };
    const breakOff = (): void => fail(brokenOff());
    source.on('data', counter(true));
    source.once('end', () => {
      resolve(Buffer.concat(chunks));
      // The request, which these listeners are of, stays as long as its connection.
      chunks.length = 0;
    });
    source.on('error', breakOff);
    if (decoder) req.on('data', counter(false)).pipe(decoder);
    req.once('close', () => void (req.complete || breakOff()));
  });
}

function brokenOff(): DomainError {
  return new DomainError('InvalidJson', 'The body could not be read whole');
}

function tooLarge(limitBytes: number): DomainError {
  return new DomainError('PayloadTooLarge', `The body must not have more than ${limitBytes} bytes`);
}
