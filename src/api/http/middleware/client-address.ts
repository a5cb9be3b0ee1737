import type { RequestHandler } from 'express';
import { createClientAddress } from '../../../process/client-address.ts';

/** @param trustedProxies - whose `X-Forwarded-For` is trusted */
export function clientAddress(trustedProxies: readonly string[]): RequestHandler {
  const addressOf = createClientAddress(trustedProxies);
  return (req, res, next) => {
    res.locals.address = addressOf(req);
    next();
  };
}
