import type { IncomingMessage } from 'node:http';
import type { BodyBudget, HeldBody } from '../../body-budget.ts';
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
  const encoding = req.headers['content-encoding'];
  if (encoding && encoding !== 'identity') {
    throw new Refusal(415, 'UnsupportedMediaType', 'The body must not be compressed');
  }
  if (Number(req.headers['content-length'] ?? 0) > limitBytes) throw tooLarge();
  const held = budget.open();
  try {
    const body = await collect(req, limitBytes, held);
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

// By events: iterating over a stream costs several times as much, for bodies that are nearly always one chunk.
function collect(req: IncomingMessage, limitBytes: number, held: HeldBody): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    const refuse = (error: Error) => {
      // What is still to come is not kept, and what has come is not put together.
      req.off('data', take).off('end', end).pause();
      chunks.length = 0;
      reject(error);
    };
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limitBytes) return refuse(tooLarge());
      if (!held.takePiece(chunk.length)) return refuse(tooMuch());
      chunks.push(chunk);
    };
    const end = () => {
      req.off('close', close);
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size));
    };
    const close = () => reject(cutOff());
    req.on('data', take).once('end', end).on('error', reject).once('close', close);
    if (req.destroyed) reject(cutOff());
  });
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
