/** Runs a job as soon as fewer than the limit are running; jobs start in the order they came. */
export type Limiter = <T>(job: () => Promise<T>) => Promise<T>;

/** Started jobs are dropped from the front of the queue in portions of at least this many. */
const COMPACT_FROM = 1024;

/** Bounds how many jobs run at once; nothing of a waiting job exists but its closure. */
export function createLimiter(limit: number): Limiter {
  const waiting: (() => void)[] = [];
  let head = 0;
  let running = 0;
  const release = (): void => {
    const next = waiting[head];
    if (next) {
      waiting[head++] = undefined as never;
      next();
    } else running--;
    if (head > COMPACT_FROM && head * 2 > waiting.length) {
      waiting.splice(0, head);
      head = 0;
    }
  };
  return async (job) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await job();
    } finally {
      release();
    }
  };
}
