import type { RequestHandler } from 'express';
import { serviceBusy } from '../../../domain/common/errors.ts';
import { ConcurrencyLimiter, type ConcurrencyLimits } from '../../../process/admission/concurrency-limiter.ts';

/** Calls of an account wait for each other before they delay others. @param limits - none: all are admitted at once */
export function admission(limits: ConcurrencyLimits | undefined): RequestHandler {
  const limiter = limits && new ConcurrencyLimiter(limits, () => serviceBusy('Too many requests at once'));
  return (_req, { locals }, next) => {
    const { principal, onHandled } = locals;
    // Without a caller it is a login, which waits for a slot to hash in, or a cheap read.
    if (!limiter || !principal) return next();
    const admitted = limiter.run(principal.accountId, () => {
      return new Promise<void>((release) => {
        onHandled.push(release);
        next();
      });
    });
    admitted.catch(next);
  };
}
