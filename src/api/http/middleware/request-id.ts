import type { Request, RequestHandler } from 'express';

const REQUEST_ID = /^[\w.-]{1,64}$/;

/** The client's `X-Request-Id` if it is short and plain, otherwise a new one. */
export function requestIdOf({ headers }: Pick<Request, 'headers'>): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : crypto.randomUUID();
}

/** Begins the state of a request. */
export function requestId(): RequestHandler {
  return (req, res, next) => {
    Object.assign(res.locals, {
      requestId: requestIdOf(req),
      operation: undefined,
      principal: null,
      responseBody: undefined,
      onHandled: [],
      onCompleted: [],
    });
    next();
  };
}
