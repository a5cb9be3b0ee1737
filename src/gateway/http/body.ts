import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.ts';

/** Memory that the bodies of all requests under way may take together. */
export interface BodyBudget {
  limitBytes: number;
  usedBytes: number;
}

/**
 * Reads a request's body and hands it to `use`; its bytes count against `budget` until `use` is done.
 *
 * @throws {Refusal} 413 beyond `limitBytes`, 503 beyond the budget, 415 when the body is compressed, 400 when cut off
 */
export async function withBody<T>(
  req: IncomingMessage,
  limitBytes: number,
  budget: BodyBudget,
  use: (body: Buffer) => Promise<T>,
): Promise<T> {
  const encoding = req.headers['content-encoding'];
  if (encoding && encoding !== 'identity') {
    throw new Refusal(415, 'UnsupportedMediaType', 'The body must not be compressed');
  }
  if (Number(req.headers['content-length'] ?? 0) > limitBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of req as AsyncIterable<Buffer>) {
      size += chunk.length;
      budget.usedBytes += chunk.length;
      if (size > limitBytes) throw tooLarge();
      if (budget.usedBytes > budget.limitBytes) throw new Refusal(503, 'ServiceUnavailable', 'Too much at once');
      chunks.push(chunk);
    }
    return await use(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNRESET') {
      throw new Refusal(400, 'InvalidParameter', 'The body was cut off');
    }
    throw error;
  } finally {
    budget.usedBytes -= size;
  }
}

function tooLarge(): Refusal {
  return new Refusal(413, 'PayloadTooLarge', 'The body is too large');
}
