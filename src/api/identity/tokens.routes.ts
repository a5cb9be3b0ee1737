import type { Router } from 'express';
import type { Credential } from '../../services/identity/login/credentials.service.ts';
import { formatTime } from '../common/time.ts';
import { createRouter, type Handler, type RequestContext, type RouteDeps } from '../http/handler.ts';
import type { components } from '../openapi/types.generated.ts';
import { toLoginResponse } from './identity-responses.ts';

export function tokensRoutes({ operation, services }: RouteDeps): Router {
  const { login, tokens, passwords, credentials, loginMethods } = services;
  const loginByAccessKey: Handler<'loginByAccessKey'> = async ({ body, origin }) => {
    const { access_key: accessKey, secret_key: secretKey, expiry_minutes } = body;
    const expiryMinutes = expiry_minutes ?? undefined;
    return toLoginResponse(await login.loginByAccessKey({ accessKey, secretKey, expiryMinutes, origin }));
  };
  const getLoginMethods: Handler<'getLoginMethods'> = async () => {
    const available = { available: true, enabled: true };
    const pam = { available: loginMethods.pam, enabled: loginMethods.pam };
    const oidc = { available: false, configurations: [] };
    return { password: available, pam, access_key: available, oidc };
  };
  const getMe: Handler<'getMe'> = async (context) =>
    toLoginResponse(await tokens.describe(context.caller, tokenOf(context)));
  const logout: Handler<'logout'> = async ({ caller }) => {
    await tokens.logout(caller);
    return {};
  };
  const switchAccount: Handler<'switchAccount'> = async (context) => ({
    token: await tokens.switchAccount(context.caller, tokenOf(context), context.body.account_name),
  });
  const invalidateOwnTokens: Handler<'invalidateOwnTokens'> = ({ caller, body }) =>
    tokens.invalidateOwn(caller, { keepAccessKeys: body?.keep_access_keys ?? false });
  const invalidateAccountTokens: Handler<'invalidateAccountTokens'> = ({ caller }) => tokens.invalidateAccount(caller);
  const invalidateSystemTokens: Handler<'invalidateSystemTokens'> = ({ caller }) => tokens.invalidateSystem(caller);
  const invalidateNamedAccountTokens: Handler<'invalidateNamedAccountTokens'> = ({ caller, params }) =>
    tokens.invalidateNamedAccount(caller, params.account_name);
  const changePassword: Handler<'changePassword'> = async ({ caller, body }) => {
    const { password, new_password: newPassword, keep_access_keys } = body;
    await passwords.change(caller, { password, newPassword, keepAccessKeys: keep_access_keys ?? false });
    return {};
  };
  const listCredentials: Handler<'listCredentials'> = async ({ caller, publicUrl }) => ({
    credentials: (await credentials.list(caller)).map((entry) => toCredentialResponse(entry, publicUrl)),
  });
  const createCredential: Handler<'createCredential'> = async ({ caller, body, publicUrl }) => {
    const { account, password, name, expires_at } = body;
    const wanted = { accountName: account, password, name: name ?? null, expiresAt: expires_at ?? null };
    return toCredentialResponse(await credentials.create(caller, wanted), publicUrl);
  };
  const deleteCredential: Handler<'deleteCredential'> = ({ caller, params }) =>
    credentials.remove(caller, params.access_key);
  return createRouter()
    .post('/login/access-key', operation('loginByAccessKey', loginByAccessKey))
    .get('/login/methods', operation('getLoginMethods', getLoginMethods))
    .get('/me', operation('getMe', getMe))
    .post('/logout', operation('logout', logout))
    .post('/switch-account', operation('switchAccount', switchAccount))
    .post('/tokens/invalidate-me', operation('invalidateOwnTokens', invalidateOwnTokens))
    .post('/tokens/invalidate-account', operation('invalidateAccountTokens', invalidateAccountTokens))
    .post('/tokens/invalidate-system', operation('invalidateSystemTokens', invalidateSystemTokens))
    .post(
      '/tokens/invalidate-system/account/:account_name',
      operation('invalidateNamedAccountTokens', invalidateNamedAccountTokens),
    )
    .put('/password', operation('changePassword', changePassword))
    .get('/credentials', operation('listCredentials', listCredentials))
    .post('/credentials', operation('createCredential', createCredential))
    .delete('/credentials/:access_key', operation('deleteCredential', deleteCredential));
}

function tokenOf({ request }: RequestContext<'getMe' | 'switchAccount'>): string {
  return (request.headers.authorization ?? '').slice('bearer '.length);
}

function toCredentialResponse(credential: Credential, publicUrl: string): components['schemas']['Credential'] {
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
