import type { Request, RequestHandler, Response } from 'express';
import { CLIENT_CLOSED_REQUEST } from '../../../process/http-response.ts';
import type { Caller } from '../../../services/common/ports.ts';
import type { AnyResponse, Handler, OperationId, RequestContext } from '../handler.ts';
import type { Operation } from '../operations.ts';
import { completeRequest, releaseResources } from '../request-state.ts';
import { traceparentOf } from '../tracing.ts';
import { hasDisconnected, sendJson, sendStream } from './send.ts';
import type { ResponseCheck } from './validate.ts';
import { ERROR_STATUS } from '../../../domain/common/errors.ts';

/** Calls the handler and sends its response. @param checkResponse - only in tests */
export function handle<Id extends OperationId>(
  operation: Operation,
  handler: Handler<Id>,
  checkResponse: ResponseCheck | null,
): RequestHandler {
  return async (req, res) => {
    const { status = 200, headers = {}, body, stream } = (await handler(contextOf<Id>(req, res))) as AnyResponse;
    releaseResources(res);
    const { requestId } = res.locals;
    if (stream) {
      await sendStream(req, res, { ...stream, headers, requestId });
    } else {
      if (checkResponse) await checkResponse(operation, req, status, body);
      res.locals.responseBody = body;
      sendJson(req, res, { status, body, headers, requestId });
    }
    completeRequest(res, recordedStatus(req, res));
  };
}

function contextOf<Id extends OperationId>(req: Request, res: Response): RequestContext<Id> {
  const { principal, address, requestId, params, query } = res.locals;
  const origin = { address, requestId };
  const caller: Caller | null = principal && { ...principal, origin };
  const context = { caller, params, query, body: req.body, origin, traceparent: traceparentOf(req), request: req };
  // The document says what an operation gets, and the validation has checked it.
  return context as unknown as RequestContext<Id>;
}

/** @returns the status sent, or 499 when the client disconnected */
export function recordedStatus(req: Request, res: Response): number {
  const isGone = hasDisconnected(req, res) && res.statusCode < ERROR_STATUS.InternalError;
  return isGone ? CLIENT_CLOSED_REQUEST : res.statusCode;
}
