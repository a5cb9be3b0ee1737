import { accessSync, constants } from 'node:fs';
import { isIP } from 'node:net';
import { z } from 'zod';

/** `process`: API, gateway, worker; `migrate`: the database; `temporal`: the Temporal server; `stack`: all of it. */
export type ConfigRole = 'stack' | 'process' | 'migrate' | 'temporal';

type Process = 'all' | 'npm start' | 'API' | 'gateway' | 'API, gateway' | 'worker' | 'API, worker';

export interface SettingDetails {
  readonly usedBy: Process;
  readonly about: string;
  readonly unit?: string;
  readonly default?: string;
  readonly requiredBy?: readonly ConfigRole[];
  readonly isSecret?: boolean;
  readonly takesEmpty?: boolean;
  /** Of earlier releases; read where the present name is absent. */
  readonly formerName?: `FLOTILLA_${string}`;
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

/** Descriptions become `docs/settings.md`; messages continue the name, without the value, which may be a secret. */
export const text = z.string().trim().describe('text');

function number(pattern: RegExp, min: number, max: number, message: string) {
  const value = z.number(message).min(min, message).max(max, message);
  return z.string().trim().regex(pattern, message).transform(Number).pipe(value);
}

/** Both bounds are included, as in {@link decimal}. */
export function wholeNumber(min: number, max: number) {
  const schema = number(/^\d{1,12}$/, min, max, `must be a whole number from ${min} to ${max}`);
  return schema.describe(`whole number, ${min} to ${max}`);
}

export const port = wholeNumber(1, 65_535).describe('port');

export function decimal(min: number, max: number) {
  const schema = number(/^\d+(\.\d+)?$/, min, max, `must be a number from ${min} to ${max}`);
  return schema.describe(`number, ${min} to ${max}`);
}

/** Days that something is kept; -1 keeps it forever. */
export function retentionDays(max: number) {
  const message = `must be -1 or a whole number of days from 1 to ${max}`;
  const schema = number(/^(-1|(?!0+$)\d{1,6})$/, -1, max, message);
  return schema.describe(`-1, or a whole number, 1 to ${max}`);
}

export const boolean = z
  .string()
  .trim()
  .pipe(z.stringbool({ truthy: ['1', 'true', 'yes'], falsy: ['0', 'false', 'no'], error: 'must be true or false' }))
  .describe('true or false');

export function oneOf<const T extends string>(...values: T[]) {
  const schema = z
    .string()
    .trim()
    .pipe(z.enum(values, `must be one of ${values.join(', ')}`));
  return schema.describe(values.join(', ').replace(/, (?=[^,]*$)/, ' or '));
}

/** A URL, which loses its trailing slashes. */
export function url(...protocols: string[]) {
  const starts = protocols.map((protocol) => `${protocol}://`).join(' or ');
  const protocol = new RegExp(`^(${protocols.join('|')})$`);
  const schema = text.pipe(z.url({ protocol, error: `must be a URL starting with ${starts}` }));
  return schema.transform((value) => value.replace(/\/+$/, '')).describe(`URL, ${starts}`);
}

/** @param what - with its article, for descriptions and messages: `an email address` */
export function matching(pattern: RegExp, what: string) {
  return z.string().trim().regex(pattern, `must be ${what}`).describe(what.replace(/^an? /, ''));
}

export const hostAndPort = matching(/^\S+:\d{1,5}$/, 'host:port');

export const email = matching(/^([^\s@]+@[^\s@]+)?$/, 'an email address');

export const readableFile = z
  .string()
  .trim()
  .refine(isReadable, { error: ({ input }) => `names a file that cannot be read: ${input}` })
  .describe('path of a file');

const list = z.string().transform((value) => splitList(value).filter(Boolean));

export const networks = list
  .refine((entries) => entries.every(isNetwork), 'must be a comma-separated list of addresses and networks')
  .describe('addresses and networks, comma-separated');

export const hostNames = z
  .string()
  .toLowerCase()
  .pipe(list)
  .refine(
    (names) => names.every((name) => /^[a-z0-9_.-]{1,255}$/.test(name)),
    'must be a comma-separated list of host names without ports',
  )
  .describe('host names, comma-separated');

/** White space around it is part of it. */
export function secret(min: number, max: number) {
  const message = `must have ${min} to ${max} characters`;
  return z.string().min(min, message).max(max, message).describe(`${min} to ${max} characters`);
}

/** Different secrets; white space around one that stands alone is part of it. */
export function secrets(min: number, max: number) {
  return z
    .string()
    .transform((value) => (value.includes(',') ? splitList(value) : [value]))
    .refine(
      (all) => all.every(({ length }) => length >= min && length <= max) && new Set(all).size === all.length,
      `must be different secrets of ${min} to ${max} characters, newest first, separated by commas`,
    )
    .describe(`secrets of ${min} to ${max} characters, comma-separated`);
}

export interface EncryptionKey {
  readonly id: string;
  readonly key: Buffer;
}

export const encryptionKeys = z
  .string()
  .transform((value) => splitList(value).map(parseKey))
  .refine(
    (keys) => keys.every((key) => key !== null) && new Set(keys.map((key) => key?.id)).size === keys.length,
    'must be a comma-separated list of <key id>:<32 bytes in base64>, newest first, ids unique',
  )
  .transform((keys) => keys as readonly EncryptionKey[])
  .describe('<key id>:<32 bytes in base64>, comma-separated');

function parseKey(text: string): EncryptionKey | null {
  const [, id, encoded = ''] = /^([\w-]{1,32}):([^:]+)$/.exec(text) ?? [];
  const key = Buffer.from(encoded, 'base64');
  return id !== undefined && key.length === 32 ? { id, key } : null;
}

function splitList(value: string): string[] {
  return value.split(',').map((entry) => entry.trim());
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function isNetwork(entry: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  return isIP(address) !== 0 && Number(bits ?? 0) <= (isIP(address) === 6 ? 128 : 32);
}
