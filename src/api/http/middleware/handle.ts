import { Readable } from 'node:stream';
import type { Request, RequestHandler, Response } from 'express';
import type { Caller } from '../../../services/common/ports.ts';
import { type AnyHandler, NotModified } from '../handler.ts';
import type { Operation } from '../operations.ts';
import { completeRequest, releaseResources } from '../request-state.ts';
import { recordedStatus, send, sendStream } from '../send.ts';
import type { ApplyPrefer } from './prefer.ts';
import { traceparentOf } from './trace.ts';
import type { ResponseCheck } from './validate.ts';

interface Sending {
  publicUrl: string;
  checkResponse: ResponseCheck | null;
  applyPrefer: ApplyPrefer;
}

/** Calls the handler and sends its response. @param checkResponse - only in tests */
export function handle(
  operation: Operation,
  handler: AnyHandler,
  { publicUrl, checkResponse, applyPrefer }: Sending,
): RequestHandler {
  return async (req, res) => {
    // The document defines what an operation gets, and the validation has checked it.
    const result = await handler(contextOf(req, res, publicUrl) as never);
    releaseResources(res);
    const body = await applyPrefer(operation, req, res, result);
    if (body instanceof Readable) {
      await sendStream(req, res, body);
    } else if (body instanceof NotModified) {
      send(req, res, 304, undefined);
    } else {
      await checkResponse?.(operation, req, body);
      res.locals.responseBody = body;
      send(req, res, operation.successStatus, body);
    }
    completeRequest(res, recordedStatus(req, res));
  };
}

function contextOf(req: Request, res: Response, publicUrl: string) {
  const { principal, address, requestId, params, query } = res.locals;
  const origin = { address, requestId };
  const caller: Caller | null = principal && { ...principal, origin };
  const traceparent = traceparentOf(req);
  return { caller, params, query, body: req.body, origin, traceparent, publicUrl, request: req, response: res };
}
