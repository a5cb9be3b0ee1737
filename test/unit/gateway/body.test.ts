import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type BodyBudget, withBody } from '../../../src/gateway/http/body.ts';

const KIB = 1024;
const LIMIT = 1024 * KIB;

const request = (bytes: number) =>
  Object.assign(Readable.from([Buffer.alloc(bytes)]), { headers: {} }) as unknown as IncomingMessage;

describe('the memory of bodies under way', () => {
  it('counts what is made of them, until they are done', async () => {
    const budget: BodyBudget = { limitBytes: LIMIT, usedBytes: 0 };
    const made = await withBody(request(KIB), LIMIT, budget, async (body, charge) => {
      charge(100 * KIB);
      expect(budget.usedBytes).toBe(101 * KIB);
      return body.length;
    });
    expect(made).toBe(KIB);
    const greedy = withBody(request(KIB), LIMIT, budget, async (_, charge) => charge(2 * LIMIT));
    await expect(greedy).rejects.toMatchObject({ status: 503 });
    expect(budget.usedBytes).toBe(0);
  });

  it('leaves a part to those that tell little', async () => {
    const budget: BodyBudget = { limitBytes: LIMIT, usedBytes: 0.85 * LIMIT };
    await expect(withBody(request(100 * KIB), LIMIT, budget, async () => 'read')).rejects.toMatchObject({
      status: 503,
    });
    budget.usedBytes = 0.95 * LIMIT;
    await expect(withBody(request(KIB), LIMIT, budget, async () => 'read')).resolves.toBe('read');
  });
});
