import { getHeapStatistics } from 'node:v8';
import { RequestMemoryLimit, type RequestMemoryShare } from '../../../process/admission/request-memory.ts';
import { rateLimitKey } from '../../../process/client-address.ts';
import type { RequestHandler } from 'express';

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

/** Counts a body until its handler returns, because what was parsed from it stays in memory until then. */
export function requestMemory(limit: RequestMemoryLimit): RequestHandler {
  return (req, { locals }, next) => {
    const { address, principal } = locals;
    const share = { name: `address ${rateLimitKey(address)}`, share: ADDRESS_SHARE };
    const memory = limit.reserve(principal ? [share] : [share, UNAUTHENTICATED]);
    locals.memory = memory;
    locals.onHandled.push(() => {
      memory.release();
      // A keep-alive connection references its latest request.
      req.body = undefined;
    });
    next();
  };
}
