/** Runs a job when fewer than the limit are running, in order of arrival. */
export type Limiter = <T>(job: () => Promise<T>) => Promise<T>;

/** The queue is compacted after this many jobs have started. */
const COMPACT_FROM = 1024;

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
