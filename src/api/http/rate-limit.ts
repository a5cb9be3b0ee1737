import { DomainError } from '../../domain/common/errors.ts';
import type { Rate } from '../../process/config.ts';
import type { Clock } from '../../services/common/ports.ts';
import { TokenBuckets } from '../../process/admission/token-buckets.ts';
import { rateLimitKey } from '../../process/client-address.ts';

/** Limits the rate of requests, per process. */
export interface RateLimit {
  /**
   * Counts a request with a valid token.
   * @throws {DomainError} TooManyRequests with the time until the next request is accepted
   */
  byToken(tokenId: string): void;
  /** Counts a request without a valid token. @throws as {@link byToken} */
  byAddress(address: string): void;
}

/** Of tokens and of addresses: some 20 MB together. */
const MAX_KEYS = 100_000;

/** @param rate - null for no limit */
export function createRateLimit(rate: Rate | null, clock: Clock): RateLimit {
  if (rate === null) return { byToken: () => undefined, byAddress: () => undefined };
  const tokens = new TokenBuckets({ ...rate, maxKeys: MAX_KEYS });
  const addresses = new TokenBuckets({ ...rate, maxKeys: MAX_KEYS });
  const spend = (buckets: TokenBuckets, key: string): void => {
    const waitSeconds = buckets.take(key, 1, clock.now().getTime());
    if (waitSeconds > 0) {
      throw new DomainError('TooManyRequests', 'Too many requests; try again later', {
        retryAfterSeconds: Math.max(1, waitSeconds),
      });
    }
  };
  return {
    byToken: (tokenId) => spend(tokens, tokenId),
    byAddress: (address) => spend(addresses, rateLimitKey(address)),
  };
}
