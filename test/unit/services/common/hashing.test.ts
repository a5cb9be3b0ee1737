import { describe, expect, it } from 'vitest';
import { createHashing, type HashingClient } from '../../../../src/services/common/hashing.ts';

const LIMITS = { concurrency: 1, concurrencyPerKey: 1, maxQueued: 5, maxQueuedPerKey: 3 };
const busy = { code: 'ServiceUnavailable', retryAfterSeconds: 1 };

/** A queue whose only slot is taken until `release`, and the order in which the others had theirs. */
function held() {
  const hashing = createHashing(LIMITS);
  const order: string[] = [];
  let release = () => {};
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  const first = hashing.run({ address: '203.0.113.1' }, () => until);
  const submit = (by: HashingClient, name: string) => hashing.run(by, async () => void order.push(name));
  const end = () => {
    release();
    return first;
  };
  return { submit, order, end };
}

describe('hashing', () => {
  it('lets those of another address pass the many of one', async () => {
    const { submit, order, end } = held();
    const many = ['a1', 'a2', 'a3'].map((name) => submit({ address: '192.0.2.1' }, name));
    const other = submit({ address: '192.0.2.2' }, 'b1');
    await end();
    await Promise.all([...many, other]);
    expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  it('rejects what one address has beyond its bound, and takes that of another', async () => {
    const { submit, end } = held();
    const many = [1, 2, 3].map((n) => submit({ address: '192.0.2.1' }, `a${n}`));
    await expect(submit({ address: '192.0.2.1' }, 'a4')).rejects.toMatchObject(busy);
    const others = [submit({ address: '192.0.2.2' }, 'b'), submit({ address: '192.0.2.3' }, 'c')];
    await expect(submit({ address: '192.0.2.4' }, 'd')).rejects.toMatchObject(busy);
    await end();
    await Promise.all([...many, ...others]);
  });

  it('takes a network of IPv6 for one address, and a person for nobody but themselves', async () => {
    const { submit, order, end } = held();
    const many = [1, 2, 3].map((n) => submit({ address: `2001:db8::${n}` }, `a${n}`));
    await expect(submit({ address: '2001:db8::4' }, 'a4')).rejects.toMatchObject(busy);
    const others = [submit({ personId: 1 }, 'p1'), submit({ personId: 2 }, 'p2')];
    await end();
    await Promise.all([...many, ...others]);
    expect(order).toEqual(['a1', 'p1', 'p2', 'a2', 'a3']);
  });
});
