import type { Router } from 'express';
import { DomainError } from '../../domain/common/errors.ts';
import type { Services } from '../../services/setup/services.ts';
import type { Handler, ServeOperation } from '../http/handler.ts';
import { createRouter } from '../http/router.ts';
import type { components } from '../openapi/types.generated.ts';
import { toAccountResponse, toLoginResponse, toPersonResponse } from './identity-responses.ts';

type Schemas = components['schemas'];

export function identityRoutes(deps: {
  operation: ServeOperation;
  services: Pick<Services, 'accounts' | 'emailChanges' | 'login' | 'people'>;
}): Router {
  const { operation } = deps;
  const { accounts, emailChanges, people } = deps.services;
  const login: Handler<'login'> = async (context) => {
    const body = context.body;
    const result = await deps.services.login.login({
      by: nameOf(body),
      password: body.password,
      account: body.account ?? undefined,
      invitationId: body.invitation_id ?? undefined,
      expiryMinutes: body.expiry_minutes ?? undefined,
      origin: context.origin,
    });
    return { body: toLoginResponse(result) satisfies Schemas['LoginResponse'] };
  };
  const getStandaloneAccount: Handler<'getStandaloneAccount'> = async () => {
    return { body: { exists: await accounts.standaloneExists() } };
  };
  const createStandaloneAccount: Handler<'createStandaloneAccount'> = async ({ body, origin }) => {
    const request = body;
    const { enforce_password_strength: strong, setup_token: setupToken, ...administrator } = request;
    const account = await accounts.createStandalone(administrator, strong, origin, setupToken);
    return { status: 201, body: toAccountResponse(account) satisfies Schemas['Account'] };
  };
  const updatePerson: Handler<'updatePerson'> = async ({ caller, body }) => {
    const { preferred_account: preferredAccount, name, email, timezone } = body ?? {};
    const person = await people.updateSelf(caller, { name, email, timezone, preferredAccount });
    return { body: toPersonResponse(person) satisfies Schemas['Person'] };
  };
  const confirmEmail: Handler<'confirmEmail'> = async ({ caller, body }) => {
    await emailChanges.confirm(caller, body.token);
    return { body: toPersonResponse(await people.readSelf(caller)) satisfies Schemas['Person'] };
  };
  const sendTestEmail: Handler<'sendTestEmail'> = async ({ caller }) => {
    await people.sendTestEmail(caller);
    return { status: 204 };
  };
  const getPerson: Handler<'getPerson'> = async ({ caller }) => {
    return { body: toPersonResponse(await people.getSelf(caller)) satisfies Schemas['Person'] };
  };
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
