import type { Services } from '../../services/setup/services.ts';
import type { PreferencesView } from '../../services/setup/views.ts';
import type { Handlers } from '../http/handler.ts';
import type { components } from '../openapi/types.generated.ts';
import { toAccountResponse } from './identity-responses.ts';

type Schemas = components['schemas'];

export function accountsRoutes(deps: { services: Pick<Services, 'accounts' | 'preferences'> }): Handlers {
  const { accounts, preferences } = deps.services;
  return {
    async createAccount({ caller, body }) {
      const account = await accounts.createOwn(caller, (body as Schemas['AccountRequest']).title);
      return { status: 201, body: toAccountResponse(account) satisfies Schemas['Account'] };
    },
    async getPreferences({ caller }) {
      return { body: toPreferencesResponse(await preferences.get(caller)) satisfies Schemas['Preferences'] };
    },
    async updatePreferences({ caller, body }) {
      const edit = body as Schemas['PreferencesEdit'];
      const changed = await preferences.update(caller, {
        title: edit.title,
        registrationKey: edit.registration_password,
        autoRegister: edit.auto_register_new_computers,
        auditRetentionDays: edit.audit_retention_period,
      });
      return { body: toPreferencesResponse(changed) satisfies Schemas['Preferences'] };
    },
  };
}

function toPreferencesResponse(preferences: PreferencesView) {
  return {
    title: preferences.title,
    registration_password: preferences.registration_key,
    auto_register_new_computers: preferences.auto_register,
    audit_retention_period: preferences.audit_retention_days,
  };
}
