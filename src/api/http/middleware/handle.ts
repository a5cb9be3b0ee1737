import { Readable } from 'node:stream';
import type { Request, RequestHandler, Response } from 'express';
import type { Caller } from '../../../services/common/ports.ts';
import type { Handler, OperationId, RequestContext } from '../handler.ts';
import type { Operation } from '../operations.ts';
import { completeRequest, releaseResources } from '../request-state.ts';
import { recordedStatus, send, sendStream } from './send.ts';
import { traceparentOf } from './trace.ts';
import type { ResponseCheck } from './validate.ts';

/** Calls the handler and sends its response. @param checkResponse - only in tests */
export function handle<Id extends OperationId>(
  operation: Operation,
  handler: Handler<Id>,
  { publicUrl, checkResponse }: { publicUrl: string; checkResponse: ResponseCheck | null },
): RequestHandler {
  return async (req, res) => {
    const body = await handler(contextOf<Id>(req, res, publicUrl));
    releaseResources(res);
    if (body instanceof Readable) {
      await sendStream(req, res, body);
    } else {
      await checkResponse?.(operation, req, body);
      res.locals.responseBody = body;
      send(req, res, operation.successStatus, body);
    }
    completeRequest(res, recordedStatus(req, res));
  };
}

function contextOf<Id extends OperationId>(req: Request, res: Response, publicUrl: string): RequestContext<Id> {
  const { principal, address, requestId, params, query } = res.locals;
  const origin = { address, requestId };
  const caller: Caller | null = principal && { ...principal, origin };
  const traceparent = traceparentOf(req);
  const context = {
    caller,
    params,
    query,
    body: req.body,
    origin,
    traceparent,
    publicUrl,
    request: req,
    response: res,
  };
  // The document defines what an operation gets, and the validation has checked it.
  return context as unknown as RequestContext<Id>;
}
