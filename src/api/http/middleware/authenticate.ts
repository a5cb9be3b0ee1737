import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import { DomainError, unauthorized } from '../../../domain/common/errors.ts';
import type { Authenticator } from '../../../services/identity/login/authenticator.ts';
import { isRead, type Operation } from '../operations.ts';
import { requireSameOrigin } from '../request/same-origin.ts';
import { clearSessionCookie, readSessionCookie } from '../request/session-cookie.ts';

/**
 * Resolves the bearer token or, without the header, the session in the cookie, unless the operation has no security.
 * @throws {DomainError} Unauthorized, AccountDisabled, CrossSiteRequest
 */
export function authenticate(authenticator: Authenticator, publicUrl: string, operation: Operation): RequestHandler {
  if (operation.access === 'none') return (_req, _res, next) => next();
  return async (req, { locals }, next) => {
    const cookie = req.headers.authorization === undefined ? readSessionCookie(req, publicUrl) : null;
    if (cookie !== null) {
      requireSameOrigin(req, publicUrl, isRead(operation, req.method));
      locals.hasCookieSession = true;
    }
    locals.token = cookie ?? readBearer(req);
    locals.principal = await authenticator.authenticate(locals.token);
    next();
  };
}

/** Deletes the cookie of a session that has ended. */
export function clearEndedSession(publicUrl: string): ErrorRequestHandler {
  return (error, _req, res, next) => {
    const hasEnded = error instanceof DomainError && error.code === 'Unauthorized';
    if (hasEnded && res.locals.hasCookieSession && !res.headersSent) clearSessionCookie(res, publicUrl);
    next(error);
  };
}

function readBearer({ headers: { authorization } }: Pick<Request, 'headers'>): string {
  if (authorization === undefined || !/^bearer [^\s]+$/i.test(authorization)) throw unauthorized();
  return authorization.slice('bearer '.length);
}
