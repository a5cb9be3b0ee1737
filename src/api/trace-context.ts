import type { Request } from 'express';

const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

/** The W3C trace context a request came with; null when there is none or it is malformed. */
export function traceparentOf(request: Request): string | null {
  const header = request.headers['traceparent'];
  return typeof header === 'string' && TRACEPARENT.test(header) ? header : null;
}
