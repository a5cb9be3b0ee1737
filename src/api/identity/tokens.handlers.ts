import type { Credential } from '../../services/identity/login/credentials.service.ts';
import { formatTime } from '../common/time.ts';
import type { Handlers, OperationId, RequestContext, Schemas, Services } from '../http/handler.ts';
import { clearSessionCookie, setSessionCookie } from '../http/request/session-cookie.ts';
import { toCookieSession, toLoginResponse } from './identity-responses.ts';

export function tokensHandlers(services: Services) {
  const { login, tokens, passwords, credentials, loginMethods } = services;
  return {
    loginByAccessKey: async ({ body, origin }) => {
      const { access_key: accessKey, secret_key: secretKey, expiry_minutes } = body;
      const expiryMinutes = expiry_minutes ?? undefined;
      return toLoginResponse(await login.loginByAccessKey({ accessKey, secretKey, expiryMinutes, origin }));
    },
    getLoginMethods: async () => {
      const available = { available: true, enabled: true };
      const pam = { available: loginMethods.pam, enabled: loginMethods.pam };
      const oidc = { available: false, configurations: [] };
      return { password: available, pam, access_key: available, oidc };
    },
    getMe: async ({ caller, response: { locals } }) => {
      const session = await tokens.describe(caller, locals.token!);
      return locals.hasCookieSession ? toCookieSession(session) : toLoginResponse(session);
    },
    logout: async (context) => {
      await tokens.logout(context.caller);
      endCookieSession(context);
      return {};
    },
    switchAccount: async ({
      caller,
      body,
      response,
      publicUrl,
    }): Promise<Schemas['TokenAnswer'] | Schemas['Nothing']> => {
      const issued = await tokens.switchAccount(caller, response.locals.token!, body.account_name);
      if (!response.locals.hasCookieSession) return { token: issued.token };
      setSessionCookie(response, publicUrl, issued);
      return {};
    },
    invalidateOwnTokens: async (context) => {
      await tokens.invalidateOwn(context.caller, { keepAccessKeys: context.body?.keep_access_keys ?? false });
      endCookieSession(context);
    },
    invalidateAccountTokens: async (context) => {
      await tokens.invalidateAccount(context.caller);
      endCookieSession(context);
    },
    invalidateSystemTokens: async (context) => {
      await tokens.invalidateSystem(context.caller);
      endCookieSession(context);
    },
    invalidateNamedAccountTokens: async (context) => {
      const { caller, params } = context;
      await tokens.invalidateNamedAccount(caller, params.account_name);
      if (params.account_name === caller.accountName) endCookieSession(context);
    },
    changePassword: async (context) => {
      const { caller, body } = context;
      const { password, new_password: newPassword, keep_access_keys } = body;
      await passwords.change(caller, { password, newPassword, keepAccessKeys: keep_access_keys ?? false });
      endCookieSession(context);
      return {};
    },
    listCredentials: async ({ caller, publicUrl }) => ({
      credentials: (await credentials.list(caller)).map((entry) => toCredentialResponse(entry, publicUrl)),
    }),
    createCredential: async ({ caller, body, publicUrl }) => {
      const { account, password, name, expires_at } = body;
      const wanted = { accountName: account, password, name: name ?? null, expiresAt: expires_at ?? null };
      return toCredentialResponse(await credentials.create(caller, wanted), publicUrl);
    },
    deleteCredential: ({ caller, params }) => credentials.remove(caller, params.access_key),
  } satisfies Handlers;
}

/** The token of the request has become invalid. */
function endCookieSession({ response, publicUrl }: Pick<RequestContext<OperationId>, 'response' | 'publicUrl'>): void {
  if (response.locals.hasCookieSession) clearSessionCookie(response, publicUrl);
}

function toCredentialResponse(credential: Credential, publicUrl: string): Schemas['Credential'] {
  const { accessKey, secretKey, accountName, accountTitle } = credential;
  const endpoint = `${publicUrl}/api/v2`;
  return {
    access_key: accessKey,
    secret_key: secretKey,
    account_name: accountName,
    account_title: accountTitle,
    endpoint,
    name: credential.name,
    creation_time: formatTime(credential.creationTime),
    expires_at: formatTime(credential.expiresAt),
    last_used_at: formatTime(credential.lastUsedAt),
    exports: accessKey === null || secretKey === null ? null : exportsOf(endpoint, accessKey, secretKey),
  };
}

/** The values contain no quotes: the URL is the operator's, the keys are letters and digits. */
function exportsOf(endpoint: string, accessKey: string, secretKey: string): string {
  const values = { FLOTILLA_API_URI: endpoint, FLOTILLA_API_KEY: accessKey, FLOTILLA_API_SECRET: secretKey };
  const lines = Object.entries(values).map(([name, value]) => `export ${name}='${value}'\n`);
  return lines.join('');
}
