import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { withBody } from '../../../../src/gateway/http/request.ts';
import { RequestMemoryLimit } from '../../../../src/process/admission/request-memory.ts';

const KIB = 1024;
const LIMIT = 1024 * KIB;
const LIMITS = { keptBytes: LIMIT, readBytes: LIMIT };

const request = (bytes: number) =>
  Object.assign(Readable.from([Buffer.alloc(bytes)]), { headers: {} }) as unknown as IncomingMessage;

describe('the memory of bodies under way', () => {
  it('counts what is made of them, until they are done', async () => {
    const budget = new RequestMemoryLimit(LIMIT);
    const made = await withBody(request(KIB), LIMITS, budget, async ({ start: body }, charge) => {
      const receivedBytes = budget.usedBytes;
      expect(receivedBytes).toBeGreaterThanOrEqual(KIB);
      charge(100 * KIB);
      expect(budget.usedBytes).toBe(receivedBytes + 100 * KIB);
      return body.length;
    });
    expect(made).toBe(KIB);
    const greedy = withBody(request(KIB), LIMITS, budget, async (_, charge) => charge(2 * LIMIT));
    await expect(greedy).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    expect(budget.usedBytes).toBe(0);
  });

  it('reserves memory for small bodies', async () => {
    const budget = new RequestMemoryLimit(LIMIT);
    const others = budget.reserve();
    others.add(0.85 * LIMIT);
    await expect(withBody(request(100 * KIB), LIMITS, budget, async () => 'read')).rejects.toMatchObject({
      code: 'ServiceUnavailable',
    });
    others.add(0.1 * LIMIT);
    await expect(withBody(request(KIB), LIMITS, budget, async () => 'read')).resolves.toBe('read');
  });
});
