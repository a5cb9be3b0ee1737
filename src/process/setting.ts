import { z } from 'zod';

/** `process`: API, gateway, worker; `migrate`: the database; `temporal`: the Temporal server; `stack`: all of it. */
export type ConfigRole = 'stack' | 'process' | 'migrate' | 'temporal';

type Process = 'all' | 'npm start' | 'API' | 'gateway' | 'API, gateway' | 'worker' | 'API, worker';

/** What a schema does not say of a setting. */
export interface SettingDetails {
  /** The processes in which it has an effect; `npm start` hands it on to those it runs. */
  readonly usedBy: Process;
  readonly about: string;
  readonly unit?: string;
  /** The default in words, where it is no fixed value. */
  readonly default?: string;
  readonly requiredBy?: readonly ConfigRole[];
  /** Whether it can be read from the file that `<setting>_FILE` names. */
  readonly isSecret?: boolean;
  /** Whether an empty value is a value of its own, not an absent one. */
  readonly takesEmpty?: boolean;
}

export const settingDetails = z.registry<SettingDetails>();

/** Declares a setting: a schema that parses the environment variable and has its default. */
export function setting<T extends z.ZodType>(schema: T, usedBy: Process, details: Omit<SettingDetails, 'usedBy'>): T {
  settingDetails.add(schema, { usedBy, ...details });
  return schema;
}

/** Null where the variable is absent; its details say what happens then. */
export function optional<T extends z.ZodType>(schema: T): z.ZodDefault<z.ZodNullable<T>> {
  return schema.nullable().default(null as z.util.NoUndefined<z.output<z.ZodNullable<T>>>);
}
