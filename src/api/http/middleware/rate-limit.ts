import type { ErrorRequestHandler, RequestHandler } from 'express';
import { DomainError } from '../../../domain/common/errors.ts';
import { TokenBuckets } from '../../../process/admission/token-buckets.ts';
import { rateLimitKey } from '../../../process/client-address.ts';
import type { Rate } from '../../../process/config.ts';
import type { Clock } from '../../../services/common/ports.ts';

interface RateLimit {
  /** Counts an authenticated request by its token, any other by its address. */
  requests: RequestHandler;
  /** Counts an invalid token, or one in a cookie that another site may have sent, against its address, and not against valid tokens from the same address. */
  invalidTokens: ErrorRequestHandler;
}

/** Of tokens and of addresses: some 20 MB together. */
const MAX_KEYS = 100_000;
const TOKEN_ERRORS: ReadonlySet<string> = new Set(['Unauthorized', 'AccountDisabled', 'CrossSiteRequest']);

/** Limits the rate of requests, per process, by TooManyRequests. @param rate - null for no limit */
export function rateLimit(rate: Rate | null, clock: Clock): RateLimit {
  if (!rate) return { requests: (_req, _res, next) => next(), invalidTokens: (error, _req, _res, next) => next(error) };
  const tokens = new TokenBuckets({ ...rate, maxKeys: MAX_KEYS });
  const addresses = new TokenBuckets({ ...rate, maxKeys: MAX_KEYS });
  const spend = (buckets: TokenBuckets, key: string): void => {
    const waitSeconds = buckets.take(key, 1, clock.now().getTime());
    if (waitSeconds === 0) return;
    throw new DomainError('TooManyRequests', 'Too many requests; try again later', {
      retryAfterSeconds: Math.max(1, waitSeconds),
    });
  };
  return {
    requests(_req, { locals: { principal, address } }, next) {
      if (principal) spend(tokens, principal.token.id);
      else spend(addresses, rateLimitKey(address));
      next();
    },
    invalidTokens(error, _req, { locals: { address } }, next) {
      if (error instanceof DomainError && TOKEN_ERRORS.has(error.code)) spend(addresses, rateLimitKey(address));
      next(error);
    },
  };
}
