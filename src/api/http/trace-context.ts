import type { Request } from 'express';
import { activeTraceparent } from '../../process/tracing.ts';

const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

/**
 * The W3C trace context that work ordered by a request continues: the request's own span, or, where nothing is traced, the
 * one the client sent; null when there is none.
 */
export function traceparentOf(request: Request): string | null {
  return activeTraceparent() ?? traceparentHeader(request);
}

/** The W3C trace context a request came with; null when there is none or it is malformed. */
export function traceparentHeader(request: Request): string | null {
  const header = request.headers['traceparent'];
  return typeof header === 'string' && TRACEPARENT.test(header) ? header : null;
}
