import type { Request, RequestHandler } from 'express';
import { traceField, withLogFields } from '../../../process/log-fields.ts';
import { activeTraceparent, failSpan, inSpan, parseTraceparent, SpanKind } from '../../../process/tracing.ts';

/** Runs the rest of the request within its span, which continues the client's trace, and with its ids in every log line. */
export function trace(): RequestHandler {
  return (req, { locals }, next) => {
    const { requestId } = locals;
    const parent = traceparentHeader(req);
    const attributes = { 'http.request.method': req.method, 'flotilla.request_id': requestId };
    void withLogFields({ requestId, ...traceField(parent) }, () =>
      inSpan(req.method, { kind: SpanKind.SERVER, parent, attributes }, (span) => {
        return new Promise<void>((resolve) => {
          locals.onCompleted.push((status) => {
            if (span && locals.operation) span.updateName(locals.operation.id);
            span?.setAttribute('http.response.status_code', status);
            if (span && status >= 500) failSpan(span, null);
            resolve();
          });
          next();
        });
      }),
    );
  };
}

/** W3C trace context for a request's work: the request's span, or the client's context while tracing is off. */
export function traceparentOf(request: Request): string | null {
  return activeTraceparent() ?? traceparentHeader(request);
}

function traceparentHeader({ headers: { traceparent } }: Request): string | null {
  return typeof traceparent === 'string' && parseTraceparent(traceparent) ? traceparent : null;
}
