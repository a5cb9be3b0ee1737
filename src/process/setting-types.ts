import { accessSync, constants } from 'node:fs';
import { isIP } from 'node:net';

/** A kind of value that a setting can have. */
export interface SettingType<T> {
  /** For people, as in `docs/settings.md`. */
  readonly label: string;
  /** Whether white space around the value belongs to it. */
  readonly keepsSpaces?: boolean;
  /** Whether an empty value is a value of its own, not an absent one. */
  readonly takesEmpty?: boolean;
  /** @throws {InvalidSetting} */
  parse(value: string): T;
}

/** What is wrong with a value; the message continues the name of the setting. */
export class InvalidSetting extends Error {}

function check(isValid: boolean, message: string): void {
  if (!isValid) throw new InvalidSetting(message);
}

export const text: SettingType<string> = { label: 'text', parse: (value) => value };

export function wholeNumber(min: number, max: number): SettingType<number> {
  return {
    label: `whole number, ${min} to ${max}`,
    parse(value) {
      const number = /^\d{1,12}$/.test(value) ? Number(value) : Number.NaN;
      check(number >= min && number <= max, `must be a whole number from ${min} to ${max}`);
      return number;
    },
  };
}

export const port: SettingType<number> = { ...wholeNumber(1, 65_535), label: 'port' };

export function decimal(min: number, max: number): SettingType<number> {
  return {
    label: `number, ${min} to ${max}`,
    parse(value) {
      const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
      check(number >= min && number <= max, `must be a number from ${min} to ${max}`);
      return number;
    },
  };
}

/** Days that something is kept; -1 keeps it for ever. */
export function retentionDays(max: number): SettingType<number> {
  return {
    label: `-1, or a whole number, 1 to ${max}`,
    parse(value) {
      const days = /^(-1|\d{1,6})$/.test(value) ? Number(value) : Number.NaN;
      check(days === -1 || (days >= 1 && days <= max), `must be -1 or a whole number of days from 1 to ${max}`);
      return days;
    },
  };
}

const BOOLEANS = new Map([
  ...['1', 'true', 'yes'].map((word) => [word, true] as const),
  ...['0', 'false', 'no'].map((word) => [word, false] as const),
]);

export const boolean: SettingType<boolean> = {
  label: 'true or false',
  parse(value) {
    check(BOOLEANS.has(value.toLowerCase()), 'must be true or false');
    return BOOLEANS.get(value.toLowerCase())!;
  },
};

export function oneOf<const T extends string>(...values: T[]): SettingType<T> {
  return {
    label: values.join(', ').replace(/, (?=[^,]*$)/, ' or '),
    parse(value) {
      check((values as string[]).includes(value), `must be one of ${values.join(', ')}`);
      return value as T;
    },
  };
}

/** A URL, which loses its trailing slashes. */
export function url(...protocols: string[]): SettingType<string> {
  const starts = protocols.map((protocol) => `${protocol}//`);
  return {
    label: `URL, ${starts.join(' or ')}`,
    parse(value) {
      const parsed = URL.canParse(value) ? new URL(value) : null;
      check(
        parsed !== null && protocols.includes(parsed.protocol),
        `must be a URL starting with ${starts.join(' or ')}`,
      );
      return value.replace(/\/+$/, '');
    },
  };
}

export function matching(pattern: RegExp, what: string): SettingType<string> {
  return {
    label: what.replace(/^an? /, ''),
    parse(value) {
      check(pattern.test(value), `must be ${what}`);
      return value;
    },
  };
}

/** Path of a file that can be read now. */
export const readableFile: SettingType<string> = {
  label: 'path of a file',
  parse(value) {
    try {
      accessSync(value, constants.R_OK);
    } catch {
      throw new InvalidSetting(`names a file that cannot be read: ${value}`);
    }
    return value;
  },
};

export const networks: SettingType<readonly string[]> = {
  label: 'addresses and networks, comma-separated',
  parse(value) {
    const entries = splitList(value);
    check(entries.every(isNetwork), 'must be a comma-separated list of addresses and networks');
    return entries;
  },
};

export const hostNames: SettingType<readonly string[]> = {
  label: 'host names, comma-separated',
  parse(value) {
    const names = splitList(value.toLowerCase());
    const areNames = names.every((name) => /^[a-z0-9_.-]{1,255}$/.test(name));
    check(areNames, 'must be a comma-separated list of host names without ports');
    return names;
  },
};

export const hostAndPort: SettingType<string> = matching(/^\S+:\d{1,5}$/, 'host:port');

export const email: SettingType<string> = {
  label: 'email address',
  takesEmpty: true,
  parse(value) {
    check(value === '' || /^[^\s@]+@[^\s@]+$/.test(value), 'must be an email address');
    return value;
  },
};

export function secret(min: number, max: number): SettingType<string> {
  return {
    label: `${min} to ${max} characters`,
    keepsSpaces: true,
    parse(value) {
      check(value.length >= min && value.length <= max, `must have ${min} to ${max} characters`);
      return value;
    },
  };
}

/** Different secrets; white space around one that stands alone is part of it. */
export function secrets(min: number, max: number): SettingType<readonly string[]> {
  return {
    label: `secrets of ${min} to ${max} characters, comma-separated`,
    keepsSpaces: true,
    parse(value) {
      const list = value.includes(',') ? value.split(',').map((part) => part.trim()) : [value];
      const areValid = list.every(({ length }) => length >= min && length <= max) && new Set(list).size === list.length;
      check(areValid, `must be different secrets of ${min} to ${max} characters, newest first, separated by commas`);
      return list;
    },
  };
}

export interface EncryptionKey {
  readonly id: string;
  readonly key: Buffer;
}

export const encryptionKeys: SettingType<readonly EncryptionKey[]> = {
  label: '<key id>:<32 bytes in base64>, comma-separated',
  parse(value) {
    const keys = value.split(',').map((part) => {
      const [id = '', encoded = '', ...rest] = part.trim().split(':');
      return { id, key: Buffer.from(encoded, 'base64'), isWhole: rest.length === 0 };
    });
    const areValid =
      keys.every(({ id, key, isWhole }) => /^[\w-]{1,32}$/.test(id) && key.length === 32 && isWhole) &&
      new Set(keys.map(({ id }) => id)).size === keys.length;
    check(areValid, 'must be a comma-separated list of <key id>:<32 bytes in base64>, newest first, ids unique');
    return keys.map(({ id, key }) => ({ id, key }));
  },
};

function splitList(value: string): string[] {
  return value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** An address, or a network such as `10.0.0.0/8`. */
function isNetwork(entry: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  return isIP(address) !== 0 && Number(bits ?? 0) <= (isIP(address) === 6 ? 128 : 32);
}
