import type { Request } from 'express';
import { traceField, withLogFields } from '../../process/log-fields.ts';
import { activeTraceparent, failSpan, inSpan, parseTraceparent, type Span, SpanKind } from '../../process/tracing.ts';
import type { Operation } from './operations.ts';

/** Runs a request within its span, which continues the client's trace, and with its ids in every log line. */
export function withRequestSpan<T>(
  req: Request,
  requestId: string,
  work: (describe: (operation: Operation | undefined, status: number) => void) => Promise<T>,
): Promise<T> {
  const parent = traceparentHeader(req);
  const attributes = { 'http.request.method': req.method, 'flotilla.request_id': requestId };
  return withLogFields({ requestId, ...traceField(parent) }, () =>
    inSpan(req.method, { kind: SpanKind.SERVER, parent, attributes }, (span) =>
      work((operation, status) => describe(span, operation, status)),
    ),
  );
}

function describe(span: Span | null, operation: Operation | undefined, status: number): void {
  if (span === null) return;
  if (operation) span.updateName(operation.id);
  span.setAttribute('http.response.status_code', status);
  if (status >= 500) failSpan(span, null);
}

/** W3C trace context for a request's work: the request's span, or the client's context while tracing is off. */
export function traceparentOf(request: Request): string | null {
  return activeTraceparent() ?? traceparentHeader(request);
}

function traceparentHeader(request: Request): string | null {
  const header = request.headers['traceparent'];
  return typeof header === 'string' && parseTraceparent(header) ? header : null;
}
