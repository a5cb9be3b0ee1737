import { DomainError } from '../../domain/common/errors.ts';
import type { Services } from '../../services/setup/services.ts';
import type { Handlers } from '../http/handler.ts';
import type { components } from '../openapi/types.generated.ts';
import { toAccountResponse, toLoginResponse, toPersonResponse } from './identity-responses.ts';

type Schemas = components['schemas'];

export function identityRoutes(deps: {
  services: Pick<Services, 'accounts' | 'emailChanges' | 'login' | 'people'>;
}): Handlers {
  const { accounts, emailChanges, login, people } = deps.services;
  return {
    async login(context) {
      const body = context.body as Schemas['LoginRequest'];
      const result = await login.login({
        by: nameOf(body),
        password: body.password,
        account: body.account ?? undefined,
        invitationId: body.invitation_id ?? undefined,
        expiryMinutes: body.expiry_minutes ?? undefined,
        origin: context.origin,
      });
      return { body: toLoginResponse(result) satisfies Schemas['LoginResponse'] };
    },
    async getStandaloneAccount() {
      return { body: { exists: await accounts.standaloneExists() } };
    },
    async createStandaloneAccount({ body, origin }) {
      const request = body as Schemas['StandaloneAccountRequest'];
      const { enforce_password_strength: strong, setup_token: setupToken, ...administrator } = request;
      const account = await accounts.createStandalone(administrator, strong, origin, setupToken);
      return { status: 201, body: toAccountResponse(account) satisfies Schemas['Account'] };
    },
    async updatePerson({ caller, body }) {
      const { preferred_account: preferredAccount, name, email, timezone } = (body ?? {}) as Schemas['PersonEdit'];
      const person = await people.updateSelf(caller, { name, email, timezone, preferredAccount });
      return { body: toPersonResponse(person) satisfies Schemas['Person'] };
    },
    async confirmEmail({ caller, body }) {
      await emailChanges.confirm(caller, (body as Schemas['EmailConfirmation']).token);
      return { body: toPersonResponse(await people.readSelf(caller)) satisfies Schemas['Person'] };
    },
    async sendTestEmail({ caller }) {
      await people.sendTestEmail(caller);
      return { status: 204 };
    },
    async getPerson({ caller }) {
      return { body: toPersonResponse(await people.getSelf(caller)) satisfies Schemas['Person'] };
    },
  };
}

function nameOf(body: Schemas['LoginRequest']): { email: string } | { identity: string } {
  const email = body.email ?? undefined;
  const identity = body.identity ?? undefined;
  if (email !== undefined && identity === undefined) return { email };
  if (identity !== undefined && email === undefined) return { identity };
  throw new DomainError('InvalidParameterCombination', 'Exactly one of email and identity is needed');
}
