import type { RequestHandler } from 'express';
import type { ConcurrencyLimiter } from '../../../process/admission/concurrency-limiter.ts';

/** Calls of an account wait for each other before they delay others. @param concurrency - null for no limit */
export function admission(concurrency: ConcurrencyLimiter | null): RequestHandler {
  return (_req, { locals }, next) => {
    const { principal, onHandled } = locals;
    // Without a caller it is a login, which waits for a slot to hash in, or a cheap read.
    if (!concurrency || !principal) return next();
    const admitted = concurrency.run(principal.accountId, () => {
      return new Promise<void>((release) => {
        onHandled.push(release);
        next();
      });
    });
    admitted.catch(next);
  };
}
