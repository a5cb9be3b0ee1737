import { readSecretFiles } from './secret-files.ts';
import { InvalidSetting } from './setting-types.ts';
import type { ConfigRole, Setting } from './setting.ts';
import { SETTINGS, type SettingName, type SettingValue } from './settings.ts';

/** Names every wrong setting at once, one line each. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Wrong settings:\n${problems.map((p) => `  - ${p}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Reads declared settings from environment variables, and from files that they name, and collects what is wrong. */
export class SettingReader {
  readonly #env: Record<string, string | undefined>;
  readonly #role: ConfigRole;
  readonly #problems: string[] = [];

  constructor(env: Record<string, string | undefined>, role: ConfigRole) {
    const secrets = readSecretFiles(env);
    this.#env = secrets.env;
    this.#role = role;
    for (const { name, message } of secrets.problems) this.addProblem(name, message);
  }

  addProblem(name: string, message: string): void {
    this.#problems.push(`${name} ${message}`);
  }

  finish(): void {
    if (this.#problems.length > 0) throw new ConfigError(this.#problems);
  }

  isSet(name: SettingName): boolean {
    return this.#textOf(name) !== undefined;
  }

  /** The value of a setting; its default where it is absent or wrong. */
  get<N extends SettingName>(name: N): SettingValue<N> {
    const { type, fallback, requiredBy = [] } = SETTINGS[name] as Setting<SettingValue<N>>;
    const text = this.#textOf(name);
    if (text === undefined) {
      if (requiredBy.includes(this.#role)) this.addProblem(name, 'is required');
      return fallback;
    }
    try {
      return type.parse(text);
    } catch (error) {
      if (!(error instanceof InvalidSetting)) throw error;
      this.addProblem(name, error.message);
      return fallback;
    }
  }

  #textOf(name: SettingName): string | undefined {
    const { keepsSpaces, takesEmpty } = (SETTINGS[name] as Setting<unknown>).type;
    const value = keepsSpaces ? this.#env[name] : this.#env[name]?.trim();
    return value === '' && !takesEmpty ? undefined : value;
  }
}
