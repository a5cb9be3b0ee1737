import type { Request, RequestHandler } from 'express';
import { unauthorized } from '../../../domain/common/errors.ts';
import type { Authenticator } from '../../../services/identity/login/authenticator.ts';
import type { Operation } from '../operations.ts';

/** Resolves the bearer token, unless the operation has no security. @throws {DomainError} Unauthorized, AccountDisabled */
export function authenticate(authenticator: Authenticator, { access }: Operation): RequestHandler {
  if (access === 'none') return (_req, _res, next) => next();
  return async (req, res, next) => {
    res.locals.principal = await authenticator.authenticate(readBearer(req));
    next();
  };
}

/** @throws {DomainError} Unauthorized when there is none */
export function readBearer({ headers: { authorization } }: Pick<Request, 'headers'>): string {
  if (authorization === undefined || !/^bearer [^\s]+$/i.test(authorization)) throw unauthorized();
  return authorization.slice('bearer '.length);
}
