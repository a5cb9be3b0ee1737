import type { Router } from 'express';
import type { Services } from '../../services/setup/services.ts';
import type { PreferencesView } from '../../services/setup/views.ts';
import type { Handler, ServeOperation } from '../http/handler.ts';
import { createRouter } from '../http/router.ts';
import type { components } from '../openapi/types.generated.ts';
import { toAccountResponse } from './identity-responses.ts';

type Schemas = components['schemas'];

export function accountsRoutes(deps: {
  operation: ServeOperation;
  services: Pick<Services, 'accounts' | 'preferences'>;
}): Router {
  const { operation } = deps;
  const { accounts, preferences } = deps.services;
  const createAccount: Handler<'createAccount'> = async ({ caller, body }) => {
    const account = await accounts.createOwn(caller, body.title);
    return { status: 201, body: toAccountResponse(account) satisfies Schemas['Account'] };
  };
  const getPreferences: Handler<'getPreferences'> = async ({ caller }) => {
    return { body: toPreferencesResponse(await preferences.get(caller)) satisfies Schemas['Preferences'] };
  };
  const updatePreferences: Handler<'updatePreferences'> = async ({ caller, body }) => {
    const edit = body;
    const changed = await preferences.update(caller, {
      title: edit.title,
      registrationKey: edit.registration_password,
      autoRegister: edit.auto_register_new_computers,
      auditRetentionDays: edit.audit_retention_period,
    });
    return { body: toPreferencesResponse(changed) satisfies Schemas['Preferences'] };
  };
  return createRouter()
    .post('/accounts', operation('createAccount', createAccount))
    .get('/preferences', operation('getPreferences', getPreferences))
    .patch('/preferences', operation('updatePreferences', updatePreferences));
}

function toPreferencesResponse(preferences: PreferencesView) {
  return {
    title: preferences.title,
    registration_password: preferences.registrationKey,
    auto_register_new_computers: preferences.autoRegister,
    audit_retention_period: preferences.auditRetentionDays,
  };
}
