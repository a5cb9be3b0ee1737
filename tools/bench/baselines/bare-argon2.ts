// Only computes password hashes at the product's cost: replies to each `{seconds}` with the number of hashes.
import { argon2, randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';

const COST = { memory: 19 * 1024, passes: 2, parallelism: 1, tagLength: 32 };
const AT_ONCE = Math.max(1, availableParallelism() - 1);

const derive = promisify(argon2);
const message = process.env.BENCH_PASSWORD ?? '';
const nonce = randomBytes(16);

async function hash(seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1000;
  let count = 0;
  const run = async () => {
    for (; performance.now() < end; count++) await derive('argon2id', { message, nonce, ...COST });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
  return count;
}

process.on('message', ({ seconds }: { seconds: number }) => {
  void hash(seconds).then((count) => process.send?.({ count }));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
