import { setTimeout as sleep } from 'node:timers/promises';

/** Polls until the result is not null. @throws when `limitMs` passes first; the message holds `what` */
export async function waitFor<T>(
  what: string,
  poll: () => Promise<T | null> | T | null,
  options: { everyMs: number; limitMs: number },
): Promise<T> {
  const end = performance.now() + options.limitMs;
  for (;;) {
    const result = await poll();
    if (result !== null) return result;
    if (performance.now() > end) throw new Error(`waited ${options.limitMs / 1000} s in vain for ${what}`);
    await sleep(options.everyMs);
  }
}
