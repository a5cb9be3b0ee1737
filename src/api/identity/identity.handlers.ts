import { DomainError } from '../../domain/common/errors.ts';
import type { Handlers, Schemas, Services } from '../http/handler.ts';
import { requireSameOrigin } from '../http/request/same-origin.ts';
import { setSessionCookie } from '../http/request/session-cookie.ts';
import { toAccountResponse, toCookieSession, toLoginResponse, toPersonResponse } from './identity-responses.ts';

export function identityHandlers(services: Services) {
  const { accounts, emailChanges, people } = services;
  return {
    login: async ({ body, origin, request, response, publicUrl }) => {
      const inCookie = body.session === 'cookie';
      if (inCookie) requireSameOrigin(request, publicUrl, false);
      const result = await services.login.login({
        by: nameOf(body),
        password: body.password,
        account: body.account ?? undefined,
        invitationId: body.invitation_id ?? undefined,
        expiryMinutes: body.expiry_minutes ?? undefined,
        origin,
      });
      if (!inCookie) return toLoginResponse(result);
      setSessionCookie(response, publicUrl, result);
      return toCookieSession(result);
    },
    getStandaloneAccount: async () => ({
      exists: await accounts.standaloneExists(),
    }),
    createStandaloneAccount: async ({ body, origin }) => {
      const { enforce_password_strength: strong, setup_token: setupToken, ...administrator } = body;
      return toAccountResponse(await accounts.createStandalone(administrator, strong, origin, setupToken));
    },
    updatePerson: async ({ caller, body }) => {
      const { preferred_account: preferredAccount, name, email, timezone } = body ?? {};
      return toPersonResponse(await people.updateSelf(caller, { name, email, timezone, preferredAccount }));
    },
    confirmEmail: async ({ caller, body }) => {
      await emailChanges.confirm(caller, body.token);
      return toPersonResponse(await people.readSelf(caller));
    },
    sendTestEmail: ({ caller }) => people.sendTestEmail(caller),
    getMyPermissions: ({ caller }) => people.getPermissions(caller),
    getPerson: async ({ caller }) => toPersonResponse(await people.getSelf(caller)),
  } satisfies Handlers;
}

function nameOf(body: Schemas['LoginRequest']): { email: string } | { identity: string } {
  const email = body.email ?? undefined;
  const identity = body.identity ?? undefined;
  if (email !== undefined && identity === undefined) return { email };
  if (identity !== undefined && email === undefined) return { identity };
  throw new DomainError('InvalidParameterCombination', 'Exactly one of email and identity is needed');
}
