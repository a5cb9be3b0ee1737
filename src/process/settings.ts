import { ADDRESSES, DATA, SECRETS, TEMPORAL } from './infrastructure-settings.ts';
import { BEHAVIOUR, IDENTITY, LOAD } from './product-settings.ts';
import type { Setting } from './setting.ts';

export const SETTING_SECTIONS = {
  Addresses: ADDRESSES,
  Data: DATA,
  Temporal: TEMPORAL,
  'Secrets and mail': SECRETS,
  'Accounts and logins': IDENTITY,
  Behaviour: BEHAVIOUR,
  'Limits and batches': LOAD,
};

export const SETTINGS = { ...ADDRESSES, ...DATA, ...TEMPORAL, ...SECRETS, ...IDENTITY, ...BEHAVIOUR, ...LOAD };

export type SettingName = keyof typeof SETTINGS;
export type SettingValue<N extends SettingName> = (typeof SETTINGS)[N] extends Setting<infer T> ? T : never;
