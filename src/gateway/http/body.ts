import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.ts';

/** Memory that the bodies of all requests under way, and what is made of them, may take together. */
export interface BodyBudget {
  limitBytes: number;
  usedBytes: number;
}

/** Counts memory that is made of a body. @throws {Refusal} 503 beyond the budget */
export type Charge = (bytes: number) => void;

/** What is larger is read in several turns, and refused while a tenth of the budget is left for the many that tell little. */
export const LARGE_BYTES = 64 * 1024;
const LARGE_SHARE = 0.9;

function isBeyond(budget: BodyBudget, size: number): boolean {
  return budget.usedBytes > budget.limitBytes * (size > LARGE_BYTES ? LARGE_SHARE : 1);
}

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
  const part = { chunks: [] as Buffer[], size: 0 };
  try {
    await collect(req, part, limitBytes, budget);
    const body = part.chunks.length === 1 ? part.chunks[0]! : Buffer.concat(part.chunks, part.size);
    const charge = (bytes: number): void => {
      part.size += bytes;
      budget.usedBytes += bytes;
      if (isBeyond(budget, part.size)) throw tooMuch();
    };
    return await use(body, charge);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNRESET') {
      throw cutOff();
    }
    throw error;
  } finally {
    budget.usedBytes -= part.size;
  }
}

// By events: iterating over a stream costs several times as much, for bodies that are nearly always one chunk.
function collect(
  req: IncomingMessage,
  part: { chunks: Buffer[]; size: number },
  limitBytes: number,
  budget: BodyBudget,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error: Error) => {
      req.off('data', take).pause();
      reject(error);
    };
    const take = (chunk: Buffer) => {
      part.size += chunk.length;
      budget.usedBytes += chunk.length;
      if (part.size > limitBytes) return refuse(tooLarge());
      if (isBeyond(budget, part.size)) {
        return refuse(tooMuch());
      }
      part.chunks.push(chunk);
    };
    const end = () => {
      req.off('close', close);
      resolve();
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
