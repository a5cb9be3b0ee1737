import { accessSync, constants } from 'node:fs';
import { isIP } from 'node:net';
import { readSecretFiles } from './secret-files.ts';

export interface EncryptionKey {
  readonly id: string;
  readonly key: Buffer;
}

/** Names every wrong setting at once, one line each. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Wrong settings:\n${problems.map((p) => `  - ${p}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Reads environment variables, and files that they name, one by one and collects what is wrong with them. */
export class SettingReader {
  readonly #env: Record<string, string | undefined>;
  readonly #problems: string[] = [];

  constructor(env: Record<string, string | undefined>) {
    const secrets = readSecretFiles(env);
    this.#env = secrets.env;
    for (const { name, message } of secrets.problems) this.problem(name, message);
  }

  problem(name: string, message: string): void {
    this.#problems.push(`${name} ${message}`);
  }

  finish(): void {
    if (this.#problems.length > 0) throw new ConfigError(this.#problems);
  }

  text(name: string, required = false): string | null {
    const value = this.#env[name]?.trim();
    if (value) return value;
    if (required) this.problem(name, 'is required');
    return null;
  }

  number(name: string, fallback: number, min: number, max: number): number {
    const value = this.text(name);
    if (value === null) return fallback;
    const parsed = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
    if (!(parsed >= min && parsed <= max)) this.problem(name, `must be a number from ${min} to ${max}`);
    return parsed;
  }

  int(name: string, fallback: number, min: number, max: number): number {
    const value = this.text(name);
    if (value === null) return fallback;
    const parsed = /^\d{1,12}$/.test(value) ? Number(value) : Number.NaN;
    if (!(parsed >= min && parsed <= max)) this.problem(name, `must be a whole number from ${min} to ${max}`);
    return parsed;
  }

  /** Days that something is kept; -1 keeps it for ever. */
  retention(name: string, max: number): number {
    const value = this.text(name);
    if (value === null || value === '-1') return -1;
    const parsed = /^\d{1,6}$/.test(value) ? Number(value) : Number.NaN;
    if (!(parsed >= 1 && parsed <= max)) this.problem(name, `must be -1 or a whole number of days from 1 to ${max}`);
    return parsed;
  }

  port(name: string, fallback: number): number {
    return this.int(name, fallback, 1, 65_535);
  }

  flag(name: string, fallback: boolean): boolean {
    const value = this.text(name);
    if (value === null) return fallback;
    if (['1', 'true', 'yes'].includes(value.toLowerCase())) return true;
    if (['0', 'false', 'no'].includes(value.toLowerCase())) return false;
    this.problem(name, 'must be true or false');
    return fallback;
  }

  oneOf<T extends string>(name: string, values: readonly T[], fallback: T): T {
    const value = this.text(name);
    if (value === null) return fallback;
    const known = values.find((v) => v === value);
    if (!known) this.problem(name, `must be one of ${values.join(', ')}`);
    return known ?? fallback;
  }

  url(name: string, protocols: readonly string[], required = false): string | null {
    const value = this.text(name, required);
    if (value === null) return null;
    const parsed = URL.canParse(value) ? new URL(value) : null;
    if (!parsed || !protocols.includes(parsed.protocol)) {
      this.problem(name, `must be a URL starting with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    }
    return value.replace(/\/+$/, '');
  }

  pattern(name: string, pattern: RegExp, message: string): string | null {
    const value = this.text(name);
    if (value !== null && !pattern.test(value)) this.problem(name, message);
    return value;
  }

  /** Path of a file that can be read now. */
  file(name: string): string | null {
    const value = this.text(name);
    if (value === null) return null;
    try {
      accessSync(value, constants.R_OK);
    } catch {
      this.problem(name, `names a file that cannot be read: ${value}`);
    }
    return value;
  }

  networks(name: string): readonly string[] {
    const entries = (this.text(name) ?? '').split(',').map((entry) => entry.trim());
    const networks = entries.filter((entry) => entry !== '');
    if (!networks.every(isNetwork)) this.problem(name, 'must be a comma-separated list of addresses and networks');
    return networks;
  }

  /** Names of hosts, in lower case. */
  names(name: string): readonly string[] {
    const entries = (this.text(name) ?? '').split(',').map((entry) => entry.trim().toLowerCase());
    const names = entries.filter((entry) => entry !== '');
    if (!names.every((entry) => /^[a-z0-9_.-]{1,255}$/.test(entry))) {
      this.problem(name, 'must be a comma-separated list of host names without ports');
    }
    return names;
  }

  hostPort(name: string, required: boolean): string | null {
    const value = this.text(name, required);
    if (value !== null && !/^\S+:\d{1,5}$/.test(value)) this.problem(name, 'must be host:port');
    return value;
  }

  email(name: string, fallback: string): string {
    const value = this.#env[name];
    if (value === undefined) return fallback;
    if (value.trim() !== '' && !/^[^\s@]+@[^\s@]+$/.test(value.trim())) this.problem(name, 'must be an email address');
    return value.trim();
  }

  secret(name: string, min: number, max: number, required = false): string | null {
    const value = this.#env[name];
    if (!value) {
      if (required) this.problem(name, 'is required');
      return null;
    }
    if (value.length < min || value.length > max) this.problem(name, `must have ${min} to ${max} characters`);
    return value;
  }

  /** Secrets separated by commas; each has `min` to `max` characters, and none is there twice. */
  secrets(name: string, min: number, max: number, required: boolean): readonly string[] {
    const value = this.#env[name];
    if (!value) {
      if (required) this.problem(name, 'is required');
      return [];
    }
    // White space around a secret that stands alone is part of it.
    const secrets = value.includes(',') ? value.split(',').map((part) => part.trim()) : [value];
    const isGood = (secret: string) => secret.length >= min && secret.length <= max;
    if (!secrets.every(isGood) || new Set(secrets).size < secrets.length) {
      this.problem(name, `must be different secrets of ${min} to ${max} characters, newest first, separated by commas`);
    }
    return secrets;
  }

  keys(name: string, required: boolean): readonly EncryptionKey[] {
    const value = this.text(name, required);
    if (value === null) return [];
    const keys: EncryptionKey[] = [];
    for (const part of value.split(',')) {
      const [id, encoded, ...rest] = part.trim().split(':');
      const key = Buffer.from(encoded ?? '', 'base64');
      const good = id && /^[\w-]{1,32}$/.test(id) && key.length === 32 && rest.length === 0;
      if (!good || keys.some((k) => k.id === id)) {
        this.problem(name, 'must be a comma-separated list of <key id>:<32 bytes in base64>, newest first, ids unique');
        return [];
      }
      keys.push({ id, key });
    }
    return keys;
  }
}

/** An address, or a network such as `10.0.0.0/8`. */
function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  return isIP(address) !== 0 && Number(bits ?? 0) <= (isIP(address) === 6 ? 128 : 32);
}
