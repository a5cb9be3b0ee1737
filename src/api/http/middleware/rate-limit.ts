import type { ErrorRequestHandler, RequestHandler } from 'express';
import { DomainError } from '../../../domain/common/errors.ts';
import type { RateLimit } from '../rate-limit.ts';

/** Counts an authenticated request by its token, any other by its address. @throws {DomainError} TooManyRequests */
export function rateLimit(limit: RateLimit): RequestHandler {
  return (_req, { locals: { principal, address } }, next) => {
    if (principal === null) limit.byAddress(address);
    else limit.byToken(principal.token.id);
    next();
  };
}

const TOKEN_ERRORS: ReadonlySet<string> = new Set(['Unauthorized', 'AccountDisabled']);

/** Counts an invalid token against its address, and not against valid tokens from the same address. */
export function rateLimitInvalidTokens(limit: RateLimit): ErrorRequestHandler {
  return (error: unknown, _req, res, next) => {
    if (error instanceof DomainError && TOKEN_ERRORS.has(error.code)) limit.byAddress(res.locals.address);
    next(error);
  };
}
