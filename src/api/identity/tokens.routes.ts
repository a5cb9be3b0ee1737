import type { Router } from 'express';
import type { Services } from '../../services/setup/services.ts';
import type { CredentialView, LoginResultView } from '../../services/setup/views.ts';
import { formatTime } from '../common/time.ts';
import type { Handler, RequestContext, ServeOperation } from '../http/handler.ts';
import { createRouter } from '../http/router.ts';
import type { components } from '../openapi/types.generated.ts';
import { toLoginResponse } from './identity-responses.ts';

type Schemas = components['schemas'];

export function tokensRoutes(deps: {
  operation: ServeOperation;
  services: Pick<Services, 'login' | 'tokens' | 'passwords' | 'credentials' | 'loginMethods'>;
  publicUrl: string;
}): Router {
  const { operation } = deps;
  const { login, tokens, passwords, credentials, loginMethods } = deps.services;
  const respond = (result: LoginResultView) => ({ body: toLoginResponse(result) satisfies Schemas['LoginResponse'] });
  const loginByAccessKey: Handler<'loginByAccessKey'> = async ({ body, origin }) => {
    const { access_key, secret_key, expiry_minutes } = body;
    return respond(
      await login.loginByAccessKey({
        accessKey: access_key,
        secretKey: secret_key,
        expiryMinutes: expiry_minutes ?? undefined,
        origin,
      }),
    );
  };
  const getLoginMethods: Handler<'getLoginMethods'> = async () => {
    const available = { available: true, enabled: true };
    const pam = { available: loginMethods.pam, enabled: loginMethods.pam };
    const oidc = { available: false, configurations: [] };
    return { body: { password: available, pam, access_key: available, oidc } satisfies Schemas['LoginMethods'] };
  };
  const getMe: Handler<'getMe'> = async (context) => {
    return respond(await tokens.describe(context.caller, tokenOf(context)));
  };
  const logout: Handler<'logout'> = async ({ caller }) => {
    await tokens.logout(caller);
    return { body: {} };
  };
  const switchAccount: Handler<'switchAccount'> = async (context) => {
    const { account_name } = context.body;
    const token = await tokens.switchAccount(context.caller, tokenOf(context), account_name);
    return { body: { token } satisfies Schemas['TokenAnswer'] };
  };
  const invalidateOwnTokens: Handler<'invalidateOwnTokens'> = async ({ caller, body }) => {
    const { keep_access_keys: keepAccessKeys = false } = body ?? {};
    await tokens.invalidateOwn(caller, { keepAccessKeys });
    return { status: 204 };
  };
  const invalidateAccountTokens: Handler<'invalidateAccountTokens'> = async ({ caller }) => {
    await tokens.invalidateAccount(caller);
    return { status: 204 };
  };
  const invalidateSystemTokens: Handler<'invalidateSystemTokens'> = async ({ caller }) => {
    await tokens.invalidateSystem(caller);
    return { status: 204 };
  };
  const invalidateNamedAccountTokens: Handler<'invalidateNamedAccountTokens'> = async ({ caller, params }) => {
    await tokens.invalidateNamedAccount(caller, params.account_name);
    return { status: 204 };
  };
  const changePassword: Handler<'changePassword'> = async ({ caller, body }) => {
    const { password, new_password: newPassword, keep_access_keys } = body;
    await passwords.change(caller, { password, newPassword, keepAccessKeys: keep_access_keys ?? false });
    return { body: {} };
  };
  const listCredentials: Handler<'listCredentials'> = async ({ caller }) => {
    const entries = (await credentials.list(caller)).map((entry) => toCredentialResponse(entry, deps.publicUrl));
    return { body: { credentials: entries } satisfies Schemas['Credentials'] };
  };
  const createCredential: Handler<'createCredential'> = async ({ caller, body }) => {
    const { account, password, name, expires_at } = body;
    const wanted = { accountName: account, password, name: name ?? null, expiresAt: expires_at ?? null };
    const made = await credentials.create(caller, wanted);
    return { body: toCredentialResponse(made, deps.publicUrl) satisfies Schemas['Credential'] };
  };
  const deleteCredential: Handler<'deleteCredential'> = async ({ caller, params }) => {
    await credentials.remove(caller, params.access_key);
    return { status: 204 };
  };
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

const PATH = '/api/v2';

function toCredentialResponse(credential: CredentialView, publicUrl: string) {
  const { key, secretKey, accountName, accountTitle } = credential;
  const accessKey = key?.accessKey ?? null;
  const endpoint = `${publicUrl}${PATH}`;
  return {
    access_key: accessKey,
    secret_key: secretKey,
    account_name: accountName,
    account_title: accountTitle,
    endpoint,
    name: key?.name ?? null,
    creation_time: formatTime(key?.creationTime ?? null),
    expires_at: formatTime(key?.expiresAt ?? null),
    last_used_at: formatTime(key?.lastUsedAt ?? null),
    exports: accessKey === null || secretKey === null ? null : exportsOf(endpoint, accessKey, secretKey),
  };
}

/** The values contain no quotes: the URL is the operator's, the keys are letters and digits. */
function exportsOf(endpoint: string, accessKey: string, secretKey: string): string {
  const values = { FLOTILLA_API_URI: endpoint, FLOTILLA_API_KEY: accessKey, FLOTILLA_API_SECRET: secretKey };
  return Object.entries(values)
    .map(([name, value]) => `export ${name}='${value}'\n`)
    .join('');
}
