import type { SettingType } from './setting-types.ts';

/** `process`: API, gateway, worker; `migrate`: the database; `temporal`: the Temporal server; `stack`: all of it. */
export type ConfigRole = 'stack' | 'process' | 'migrate' | 'temporal';

type Process = 'all' | 'npm start' | 'API' | 'gateway' | 'API, gateway' | 'worker' | 'API, worker';

/** An environment variable that configures a process. */
export interface Setting<T> {
  /** The processes in which it has an effect; `npm start` hands it on to those it runs. */
  readonly usedBy: Process;
  readonly about: string;
  readonly unit?: string;
  /** The default in words, where it is no fixed value. */
  readonly default?: string;
  readonly type: SettingType<T>;
  /** What counts when it is absent; null where code decides. */
  readonly fallback: T;
  readonly requiredBy?: readonly ConfigRole[];
  /** Whether it can be read from the file that `<setting>_FILE` names. */
  readonly isSecret?: boolean;
}

type Details<T> = Omit<Setting<T>, 'type' | 'fallback' | 'about' | 'usedBy'>;

export function required<T>(
  type: SettingType<T>,
  usedBy: Process,
  about: string,
  details: Details<T>,
): Setting<T | null> {
  return { type: type as SettingType<T | null>, fallback: null, usedBy, about, ...details };
}

export function optional<T>(
  type: SettingType<T>,
  usedBy: Process,
  about: string,
  details: Details<T> = {},
): Setting<T | null> {
  return required(type, usedBy, about, { default: 'none', ...details });
}

export function setting<T>(
  type: SettingType<T>,
  fallback: NoInfer<T>,
  usedBy: Process,
  about: string,
  details: Details<T> = {},
): Setting<T> {
  return { type, fallback, usedBy, about, ...details };
}
