import { readFileSync } from 'node:fs';

/** Settings that hold a secret: each can be named by a file instead, `<setting>_FILE`, as container platforms hand them over. */
export const SECRET_SETTINGS = [
  'FLOTILLA_DATABASE_URL',
  'FLOTILLA_JWT_SECRET',
  'FLOTILLA_ENCRYPTION_KEYS',
  'FLOTILLA_CODEC_TOKEN',
  'FLOTILLA_SETUP_TOKEN',
  'FLOTILLA_ADMIN_PASSWORD',
  'FLOTILLA_SMTP_URL',
  'FLOTILLA_TEMPORAL_API_KEY',
] as const;

export interface WithSecrets {
  /** The environment with the contents in place of the files' names. */
  env: Record<string, string | undefined>;
  /** What is wrong, by setting. Never shows a content. */
  problems: ReadonlyArray<{ name: string; message: string }>;
}

/** Reads the files that settings name; white space around a secret is none of it. */
export function readSecretFiles(env: Record<string, string | undefined>): WithSecrets {
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
