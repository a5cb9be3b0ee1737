import { readFileSync } from 'node:fs';
import { settingDetails } from './setting.ts';
import { SETTINGS } from './settings.ts';

/** Each can be read from a file instead, `<setting>_FILE`, as container platforms provide secrets. */
export const SECRET_SETTINGS: readonly string[] = Object.entries(SETTINGS)
  .filter(([, schema]) => settingDetails.get(schema)?.isSecret)
  .map(([name]) => name);

export interface ResolvedSecrets {
  /** The environment with file contents in place of file names. */
  env: Record<string, string | undefined>;
  /** Never contains a secret. */
  problems: ReadonlyArray<{ name: string; message: string }>;
}

/** Reads the files that settings name, without the white space around their contents. */
export function readSecretFiles(env: Record<string, string | undefined>): ResolvedSecrets {
  const result = { ...env };
  const problems: Array<{ name: string; message: string }> = [];
  for (const setting of SECRET_SETTINGS) {
    const name = `${setting}_FILE`;
    const file = env[name]?.trim();
    delete result[name];
    if (!file) continue;
    if (env[setting]) {
      problems.push({ name, message: `and ${setting} exclude each other` });
      continue;
    }
    try {
      const secret = readFileSync(file, 'utf8').trim();
      if (secret === '') problems.push({ name, message: `names an empty file: ${file}` });
      result[setting] = secret;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      problems.push({ name, message: `names a file that cannot be read: ${file} (${code ?? message})` });
    }
  }
  return { env: result, problems };
}
