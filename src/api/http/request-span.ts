import type { Request } from 'express';
import { traceField, withLogFields } from '../../process/log-fields.ts';
import { failSpan, inSpan, type Span, SpanKind } from '../../process/tracing.ts';
import type { Operation } from './operations.ts';
import { traceparentHeader } from './trace-context.ts';

/**
 * Runs one request within its span, which continues the client's trace, and with its ids in every line of the log. The
 * span says which operation it was and how it ended, and nothing of what was sent.
 */
export function asRequest<T>(
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
