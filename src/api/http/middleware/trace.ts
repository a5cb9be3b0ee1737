import type { RequestHandler } from 'express';
import { withRequestSpan } from '../tracing.ts';

/** Runs the rest of the request within its span, and with its ids in every log line. */
export function trace(): RequestHandler {
  return (req, res, next) => {
    void withRequestSpan(req, res.locals.requestId, (describe) => {
      return new Promise<void>((resolve) => {
        res.locals.onCompleted.push((status) => {
          describe(res.locals.operation, status);
          resolve();
        });
        next();
      });
    });
  };
}
