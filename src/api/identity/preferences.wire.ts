import type { PreferencesView } from '../../services/setup/views.ts';

export function toPreferencesResponse(preferences: PreferencesView) {
  return {
    title: preferences.title,
    registration_password: preferences.registration_key,
    auto_register_new_computers: preferences.auto_register,
    audit_retention_period: preferences.audit_retention_days,
  };
}
