import type { Router } from 'express';
import { DomainError } from '../../domain/common/errors.ts';
import { createRouter, type Handler, type RouteDeps } from '../http/handler.ts';
import type { components } from '../openapi/types.generated.ts';
import { toAccountResponse, toLoginResponse, toPersonResponse } from './identity-responses.ts';

type Schemas = components['schemas'];

export function identityRoutes({ operation, services }: RouteDeps): Router {
  const { accounts, emailChanges, people } = services;
  const login: Handler<'login'> = async ({ body, origin }) => {
    const result = await services.login.login({
      by: nameOf(body),
      password: body.password,
      account: body.account ?? undefined,
      invitationId: body.invitation_id ?? undefined,
      expiryMinutes: body.expiry_minutes ?? undefined,
      origin,
    });
    return toLoginResponse(result);
  };
  const getStandaloneAccount: Handler<'getStandaloneAccount'> = async () => ({
    exists: await accounts.standaloneExists(),
  });
  const createStandaloneAccount: Handler<'createStandaloneAccount'> = async ({ body, origin }) => {
    const { enforce_password_strength: strong, setup_token: setupToken, ...administrator } = body;
    return toAccountResponse(await accounts.createStandalone(administrator, strong, origin, setupToken));
  };
  const updatePerson: Handler<'updatePerson'> = async ({ caller, body }) => {
    const { preferred_account: preferredAccount, name, email, timezone } = body ?? {};
    return toPersonResponse(await people.updateSelf(caller, { name, email, timezone, preferredAccount }));
  };
  const confirmEmail: Handler<'confirmEmail'> = async ({ caller, body }) => {
    await emailChanges.confirm(caller, body.token);
    return toPersonResponse(await people.readSelf(caller));
  };
  const sendTestEmail: Handler<'sendTestEmail'> = ({ caller }) => people.sendTestEmail(caller);
  const getPerson: Handler<'getPerson'> = async ({ caller }) => toPersonResponse(await people.getSelf(caller));
  return createRouter()
    .post('/login', operation('login', login))
    .get('/standalone-account', operation('getStandaloneAccount', getStandaloneAccount))
    .post('/standalone-account', operation('createStandaloneAccount', createStandaloneAccount))
    .post('/person', operation('updatePerson', updatePerson))
    .post('/person\\:confirm-email', operation('confirmEmail', confirmEmail))
    .post('/person\\:test-email', operation('sendTestEmail', sendTestEmail))
    .get('/person', operation('getPerson', getPerson));
}

function nameOf(body: Schemas['LoginRequest']): { email: string } | { identity: string } {
  const email = body.email ?? undefined;
  const identity = body.identity ?? undefined;
  if (email !== undefined && identity === undefined) return { email };
  if (identity !== undefined && email === undefined) return { identity };
  throw new DomainError('InvalidParameterCombination', 'Exactly one of email and identity is needed');
}
