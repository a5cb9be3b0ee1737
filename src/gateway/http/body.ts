import type { IncomingMessage } from 'node:http';
import type { BodyBudget, HeldBody } from '../../process/body-budget.ts';
import { Refusal } from './refusal.ts';

/** Counts memory that is made of a body. @throws {Refusal} 503 beyond the budget */
export type Charge = (bytes: number) => void;

/**
 * Reads a request's body and hands it to `use`; its bytes, and those that `use` charges, count against `budget` until
 * `use` is done.
 *
 * @throws {Refusal} 413 beyond `limitBytes`, 503 beyond the budget, 415 when the body is compressed, 400 when cut off
 */
export async function withBody<T>(
  req: IncomingMessage,
  limitBytes: number,
  budget: BodyBudget,
  use: (body: Buffer, charge: Charge) => Promise<T>,
): Promise<T> {
  const limits = { keptBytes: limitBytes, readBytes: limitBytes };
  return withKeptBody(req, limits, budget, ({ start }, charge) => use(start, charge));
}

/** What is kept of a body. */
export interface KeptBody {
  /** All of it, or its beginning. */
  start: Buffer;
  /** The last bytes of one that is kept in part; null for one that is whole. */
  end: Buffer | null;
}

export interface BodyLimits {
  keptBytes: number;
  /** Beyond `keptBytes` a body is read all the same; all that is kept then is its beginning and its end. */
  readBytes: number;
}

/** Bytes that are kept of the end of a body which is kept in part. */
const END_BYTES = 4096;

/**
 * As {@link withBody}, for bodies of which a part is of use.
 *
 * @throws {Refusal} 413 beyond `limits.readBytes`, else as {@link withBody}
 */
export async function withKeptBody<T>(
  req: IncomingMessage,
  limits: BodyLimits,
  budget: BodyBudget,
  use: (body: KeptBody, charge: Charge) => Promise<T>,
): Promise<T> {
  const encoding = req.headers['content-encoding'];
  if (encoding && encoding !== 'identity') {
    throw new Refusal(415, 'UnsupportedMediaType', 'The body must not be compressed');
  }
  if (announcedBytes(req) > limits.readBytes) throw tooLarge();
  const held = budget.open();
  try {
    const body = await collect(req, limits, held);
    const charge = (bytes: number): void => {
      if (!held.take(bytes)) throw tooMuch();
    };
    return await use(body, charge);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNRESET') {
      throw cutOff();
    }
    throw error;
  } finally {
    held.release();
  }
}

/** How long a body is by its request; 0 where that is not said. */
export function announcedBytes(req: IncomingMessage): number {
  return Number(req.headers['content-length'] ?? 0);
}

// By events: iterating over a stream costs several times as much, for bodies that are nearly always one chunk.
function collect(req: IncomingMessage, { keptBytes, readBytes }: BodyLimits, held: HeldBody): Promise<KeptBody> {
  const chunks: Buffer[] = [];
  let size = 0;
  let last: Buffer | null = null;
  return new Promise((resolve, reject) => {
    const refuse = (error: Error) => {
      // What is still to come is not kept, and what has come is not put together.
      req.off('data', take).off('end', end).pause();
      chunks.length = 0;
      reject(error);
    };
    const take = (chunk: Buffer) => {
      const kept = chunk.subarray(0, Math.max(0, keptBytes - size));
      size += chunk.length;
      if (size > readBytes) return refuse(tooLarge());
      if (size > keptBytes) last = endOf([...(last ? [last] : chunks), chunk]);
      if (kept.length === 0) return;
      if (!held.takePiece(kept.length)) return refuse(tooMuch());
      chunks.push(kept);
    };
    const end = () => {
      req.off('close', close);
      resolve({ start: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks), end: last });
    };
    const close = () => reject(cutOff());
    req.on('data', take).once('end', end).on('error', reject).once('close', close);
    if (req.destroyed) reject(cutOff());
  });
}

/** The last bytes of pieces; copied, so that nothing else of them is kept. */
function endOf(pieces: readonly Buffer[]): Buffer {
  let from = pieces.length;
  for (let bytes = 0; from > 0 && bytes < END_BYTES; bytes += pieces[from]!.length) from--;
  return Buffer.from(Buffer.concat(pieces.slice(from)).subarray(-END_BYTES));
}

function cutOff(): Refusal {
  return new Refusal(400, 'InvalidParameter', 'The body was cut off');
}

function tooMuch(): Refusal {
  return new Refusal(503, 'ServiceUnavailable', 'Too much at once');
}

function tooLarge(): Refusal {
  return new Refusal(413, 'PayloadTooLarge', 'The body is too large');
}
