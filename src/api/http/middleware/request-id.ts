import type { Request, RequestHandler, Response } from 'express';

const REQUEST_ID = /^[\w.-]{1,64}$/;

/** Begins the state of a request, with the client's `X-Request-Id` if it is short and plain, otherwise a new id. */
export function requestId(): RequestHandler {
  return (req, res, next) => {
    beginRequest(req, res);
    next();
  };
}

/** Initializes the locals of a request. An `x-request-id` is adopted if well-formed, else one is generated. */
export function beginRequest({ headers }: Request, { locals }: Response): void {
  const sent = headers['x-request-id'];
  Object.assign(locals, {
    requestId: typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : crypto.randomUUID(),
    operation: undefined,
    token: null,
    hasCookieSession: false,
    principal: null,
    hasWaited: false,
    responseBody: undefined,
    onHandled: [],
    onCompleted: [],
  });
}
