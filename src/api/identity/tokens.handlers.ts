import type { Credential } from '../../services/identity/login/credentials.service.ts';
import { formatTime } from '../common/time.ts';
import type { Handlers, RequestContext, Schemas, Services } from '../http/handler.ts';
import { toLoginResponse } from './identity-responses.ts';

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
    getMe: async (context) => toLoginResponse(await tokens.describe(context.caller, tokenOf(context))),
    logout: async ({ caller }) => {
      await tokens.logout(caller);
      return {};
    },
    switchAccount: async (context) => ({
      token: await tokens.switchAccount(context.caller, tokenOf(context), context.body.account_name),
    }),
    invalidateOwnTokens: ({ caller, body }) =>
      tokens.invalidateOwn(caller, { keepAccessKeys: body?.keep_access_keys ?? false }),
    invalidateAccountTokens: ({ caller }) => tokens.invalidateAccount(caller),
    invalidateSystemTokens: ({ caller }) => tokens.invalidateSystem(caller),
    invalidateNamedAccountTokens: ({ caller, params }) => tokens.invalidateNamedAccount(caller, params.account_name),
    changePassword: async ({ caller, body }) => {
      const { password, new_password: newPassword, keep_access_keys } = body;
      await passwords.change(caller, { password, newPassword, keepAccessKeys: keep_access_keys ?? false });
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

function tokenOf({ request }: RequestContext<'getMe' | 'switchAccount'>): string {
  return (request.headers.authorization ?? '').slice('bearer '.length);
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
