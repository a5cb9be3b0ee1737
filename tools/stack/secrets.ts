import { randomBytes, randomInt } from 'node:crypto';
import { chmod, open, readFile, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StackError } from './stack-error.ts';

/** Secrets that the embedded stack generates and keeps. */
export interface StackSecrets {
  /** As in FLOTILLA_JWT_SECRET. */
  jwtSecret: string;
  /** As in FLOTILLA_ENCRYPTION_KEYS. */
  encryptionKeys: string;
  /** Of the role that owns our database. */
  databasePassword: string;
  /** Of the role that PostgreSQL starts with; only this supervisor uses it, to create the others. */
  superuserPassword: string;
  /** Of the role that owns the databases of a Temporal server on PostgreSQL. */
  temporalDatabasePassword: string;
  /** Opens the codec endpoint to the Temporal UI and CLI of this stack. */
  codecToken: string;
  temporalUiToken: string;
  /** The first administrator's generated password, from before the account exists until it was shown. */
  unshownPassword?: string;
}

/**
 * Reads the generated secrets; generates them on the first start.
 * @param hasData - whether databases exist already, which are useless without their secrets
 * @throws {StackError} when the file is broken, or missing beside existing databases
 */
export async function loadSecrets(file: string, hasData: boolean): Promise<StackSecrets> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new StackError(`The secrets ${file} cannot be read: ${error.message}`, { cause: error });
  });
  if (text !== null) {
    await chmod(file, 0o600);
    const { kept, isComplete } = parse(text, file);
    const secrets = { ...newSecrets(), ...kept };
    if (!isComplete) await saveSecrets(file, secrets);
    return secrets;
  }
  if (hasData) {
    throw new StackError(
      `${file} is missing, but databases made with it exist: restore it, or move ${dirname(file)} away to start over.`,
    );
  }
  const secrets = newSecrets();
  await saveSecrets(file, secrets);
  return secrets;
}

function newSecrets(): StackSecrets {
  const text = (bytes: number): string => randomBytes(bytes).toString('base64url');
  return {
    jwtSecret: text(48),
    encryptionKeys: `k1:${randomBytes(32).toString('base64')}`,
    databasePassword: text(24),
    superuserPassword: text(24),
    temporalDatabasePassword: text(24),
    codecToken: text(32),
    temporalUiToken: text(24),
  };
}

/** Replaces the file in one step; it is on disk when this resolves. */
export async function saveSecrets(file: string, secrets: StackSecrets): Promise<void> {
  const draft = await open(`${file}.new`, 'w', 0o600);
  try {
    await draft.chmod(0o600);
    await draft.writeFile(`${JSON.stringify(secrets, null, 2)}\n`);
    await draft.sync();
  } finally {
    await draft.close();
  }
  await rename(`${file}.new`, file);
}

/** Removes a generated password once the user has seen it. Idempotent. */
export async function clearUnshownPassword(secrets: StackSecrets, secretsFile: string): Promise<void> {
  const { unshownPassword: _shown, ...kept } = secrets;
  await saveSecrets(secretsFile, kept);
}

/** Secrets that existing databases depend on; the others can be generated again. */
const LASTING = ['jwtSecret', 'encryptionKeys', 'databasePassword'] as const;

function parse(text: string, file: string): { kept: Partial<StackSecrets>; isComplete: boolean } {
  const broken = (cause?: unknown): StackError =>
    new StackError(`The secrets ${file} are broken: restore the file, or move ${dirname(file)} away to start over.`, {
      cause,
    });
  let value: Record<string, unknown>;
  try {
    value = (JSON.parse(text) ?? {}) as Record<string, unknown>;
  } catch (error) {
    throw broken(error);
  }
  const isText = (part: unknown): part is string => typeof part === 'string' && part !== '';
  if (!LASTING.every((name) => isText(value[name]))) throw broken();
  const names = [...Object.keys(newSecrets()), 'unshownPassword'];
  const kept = Object.fromEntries(names.filter((name) => isText(value[name])).map((name) => [name, value[name]]));
  return { kept, isComplete: Object.keys(newSecrets()).every((name) => name in kept) };
}

/** Letters and digits that are not mistaken for one another and have no meaning to a shell. */
const PASSWORD_ALPHABET = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const PASSWORD_CHARACTERS = 18;

/** A password of over 100 bits that is easy to type. @param minCharacters - minimum length of new passwords */
export function generatePassword(minCharacters: number): string {
  const pick = (): string => PASSWORD_ALPHABET.charAt(randomInt(PASSWORD_ALPHABET.length));
  return Array.from({ length: Math.max(PASSWORD_CHARACTERS, minCharacters) }, pick).join('');
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
