import type { RequestHandler } from 'express';
import { DomainError } from '../../../domain/common/errors.ts';
import type { Config } from '../../../process/config.ts';
import type { Principal } from '../../../services/common/ports.ts';
import type { Authenticator } from '../../../services/identity/login/authenticator.ts';
import { isRead, type Operation } from '../operations.ts';
import type { RequestState } from '../request-state.ts';

interface Offer {
  deployment: Config['deployment'];
  features: ReadonlySet<string>;
}

/** @throws {DomainError} NotFound or FeatureNotEnabled for what the deployment does not offer, Forbidden, NoAccount */
export function authorize(authenticator: Authenticator, offer: Offer, operation: Operation): RequestHandler {
  return (_req, res, next) => {
    checkOffer(operation, offer);
    const { principal } = res.locals;
    if (principal === null || findDenial(operation, principal) === null) return next();
    // A role may have been added since the rights were cached.
    return readAgain(authenticator, operation, res.locals).then(() => next());
  };
}

/**
 * Checks rights for a change again, uncached: its body may have taken a minute, and rights may have been revoked since.
 * A read that has waited is checked as if it came now.
 */
export function authorizeAgain(authenticator: Authenticator, operation: Operation): RequestHandler {
  return (req, { locals }, next) => {
    if (locals.hasWaited) return readCurrent(authenticator, operation, locals).then(() => next());
    if (locals.principal === null || isRead(operation, req.method)) return next();
    return readAgain(authenticator, operation, locals).then(() => next());
  };
}

function checkOffer({ deployment, feature }: Operation, offer: Offer): void {
  if (deployment !== undefined && deployment !== offer.deployment) {
    throw new DomainError('NotFound', `This deployment is not ${deployment}`);
  }
  if (feature !== undefined && !offer.features.has(feature)) {
    throw new DomainError('FeatureNotEnabled', `This deployment has no ${feature.replaceAll('-', ' ')}`);
  }
}

async function readAgain(authenticator: Authenticator, operation: Operation, state: { principal: Principal | null }) {
  const principal = await authenticator.reauthenticate(state.principal!);
  const denial = findDenial(operation, principal);
  if (denial) throw denial;
  state.principal = principal;
}

/** The rights of the request's token as any new request has them. @throws {DomainError} Unauthorized, Forbidden, ... */
export async function readCurrent(
  authenticator: Authenticator,
  operation: Operation,
  state: Pick<RequestState, 'token' | 'principal'>,
): Promise<void> {
  const principal = await authenticator.authenticate(state.token!);
  const denial = findDenial(operation, principal);
  if (denial) throw denial;
  state.principal = principal;
}

function findDenial({ access, needsLogin }: Operation, caller: Principal): DomainError | null {
  if (needsLogin && caller.token.method === 'key') {
    return new DomainError('Forbidden', 'A token from an access key may not do this; log in with a password');
  }
  if (access === 'token' || access === 'none') return null;
  if (caller.accountName === '') return new DomainError('NoAccount', 'The token has no current account');
  if (access === 'account') return null;
  const missing = access.find((permission) => !caller.may(permission));
  return missing === undefined ? null : new DomainError('Forbidden', `The permission ${missing} is needed`);
}
