import type { Services } from '../../services/setup/services.ts';
import type { CredentialView, LoginResultView } from '../../services/setup/views.ts';
import { formatTime } from '../common/time.ts';
import type { Handlers, RequestContext } from '../http/handler.ts';
import type { components } from '../openapi/types.generated.ts';
import { toLoginResponse } from './identity-responses.ts';

type Schemas = components['schemas'];

export function tokensRoutes(deps: {
  services: Pick<Services, 'login' | 'tokens' | 'passwords' | 'credentials' | 'loginMethods'>;
  publicUrl: string;
}): Handlers {
  const { login, tokens, passwords, credentials, loginMethods } = deps.services;
  const respond = (result: LoginResultView) => ({ body: toLoginResponse(result) satisfies Schemas['LoginResponse'] });
  return {
    async loginByAccessKey({ body, origin }) {
      const { access_key, secret_key, expiry_minutes } = body as Schemas['AccessKeyLoginRequest'];
      return respond(
        await login.loginByAccessKey({
          accessKey: access_key,
          secretKey: secret_key,
          expiryMinutes: expiry_minutes ?? undefined,
          origin,
        }),
      );
    },
    async getLoginMethods() {
      const available = { available: true, enabled: true };
      const pam = { available: loginMethods.pam, enabled: loginMethods.pam };
      const oidc = { available: false, configurations: [] };
      return { body: { password: available, pam, access_key: available, oidc } satisfies Schemas['LoginMethods'] };
    },
    async getMe(context) {
      return respond(await tokens.describe(context.caller, tokenOf(context)));
    },
    async logout({ caller }) {
      await tokens.logout(caller);
      return { body: {} };
    },
    async switchAccount(context) {
      const { account_name } = context.body as Schemas['SwitchAccountRequest'];
      const token = await tokens.switchAccount(context.caller, tokenOf(context), account_name);
      return { body: { token } satisfies Schemas['TokenAnswer'] };
    },
    async invalidateOwnTokens({ caller, body }) {
      const { keep_access_keys: keepAccessKeys = false } = (body ?? {}) as Schemas['TokenInvalidation'];
      await tokens.invalidateOwn(caller, { keepAccessKeys });
      return { status: 204 };
    },
    async invalidateAccountTokens({ caller }) {
      await tokens.invalidateAccount(caller);
      return { status: 204 };
    },
    async invalidateSystemTokens({ caller }) {
      await tokens.invalidateSystem(caller);
      return { status: 204 };
    },
    async invalidateNamedAccountTokens({ caller, params }) {
      await tokens.invalidateNamedAccount(caller, params['account_name'] as string);
      return { status: 204 };
    },
    async changePassword({ caller, body }) {
      const { password, new_password: newPassword, keep_access_keys } = body as Schemas['PasswordChange'];
      await passwords.change(caller, { password, newPassword, keepAccessKeys: keep_access_keys ?? false });
      return { body: {} };
    },
    async listCredentials({ caller }) {
      const entries = (await credentials.list(caller)).map((entry) => toCredentialResponse(entry, deps.publicUrl));
      return { body: { credentials: entries } satisfies Schemas['Credentials'] };
    },
    async createCredential({ caller, body }) {
      const { account, password, name, expires_at } = body as Schemas['CredentialRequest'];
      const wanted = { accountName: account, password, name: name ?? null, expiresAt: expires_at ?? null };
      const made = await credentials.create(caller, wanted);
      return { body: toCredentialResponse(made, deps.publicUrl) satisfies Schemas['Credential'] };
    },
    async deleteCredential({ caller, params }) {
      await credentials.remove(caller, params['access_key'] as string);
      return { status: 204 };
    },
  };
}

function tokenOf({ request }: RequestContext): string {
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
