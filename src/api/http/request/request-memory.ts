import { getHeapStatistics } from 'node:v8';
import {
  type RequestMemory,
  RequestMemoryLimit,
  type RequestMemoryShare,
} from '../../../process/admission/request-memory.ts';
import { rateLimitKey } from '../../../process/client-address.ts';

const MIB = 1024 * 1024;
/** Fits the largest body of any operation, even compressed or in the smallest packets. */
const ONE_BODY_BYTES = 24 * MIB;
/** Smaller in a small container, because a body takes up to four times its size on the heap while it is parsed. */
const MAX_BYTES = Math.max(2 * ONE_BODY_BYTES, Math.min(128 * MIB, getHeapStatistics().heap_size_limit / 8));
const ADDRESS_SHARE = Math.max(1 / 4, ONE_BODY_BYTES / MAX_BYTES);
/** Requests without a token, from however many addresses, leave the rest to those with one. */
const UNAUTHENTICATED: RequestMemoryShare = { name: 'unauthenticated', share: 1 / 2 };

export function createRequestMemoryLimit(): RequestMemoryLimit {
  return new RequestMemoryLimit(MAX_BYTES);
}

/** Counts a body against the limit and the shares of its sender. */
export function reserveRequestMemory(
  limit: RequestMemoryLimit,
  from: { address: string; isAuthenticated: boolean },
): RequestMemory {
  const address = { name: `address ${rateLimitKey(from.address)}`, share: ADDRESS_SHARE };
  return limit.reserve(from.isAuthenticated ? [address] : [address, UNAUTHENTICATED]);
}
