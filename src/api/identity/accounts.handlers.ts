import type { PreferencesService } from '../../services/identity/preferences.service.ts';
import type { Handlers, Schemas, Services } from '../http/handler.ts';
import { toAccountResponse } from './identity-responses.ts';

export function accountsHandlers({ accounts, preferences }: Services) {
  return {
    createAccount: async ({ caller, body }) => toAccountResponse(await accounts.createOwn(caller, body.title)),
    getPreferences: async ({ caller }) => toPreferencesResponse(await preferences.get(caller)),
    updatePreferences: async ({ caller, body }) => {
      const changed = await preferences.update(caller, {
        title: body.title,
        registrationKey: body.registration_password,
        autoRegister: body.auto_register_new_computers,
        auditRetentionDays: body.audit_retention_period,
        agentIntervals: body.agent_intervals,
      });
      return toPreferencesResponse(changed);
    },
  } satisfies Handlers;
}

type Preferences = Awaited<ReturnType<PreferencesService['get']>>;

function toPreferencesResponse(preferences: Preferences): Schemas['Preferences'] {
  return {
    title: preferences.title,
    registration_password: preferences.registrationKey,
    auto_register_new_computers: preferences.autoRegister,
    audit_retention_period: preferences.auditRetentionDays,
    agent_intervals: preferences.agentIntervals,
  };
}
