import { DomainError } from '../../../src/domain/common/errors.ts';
import type { Persistence } from '../../../src/persistence/orm/orm.ts';
import type { Config } from '../../../src/process/config.ts';
import { isLoopback } from '../../../src/process/config.ts';
import { demoFixes } from '../demo-fixes.ts';
import { generatePassword, type StackSecrets, saveSecrets } from '../secrets.ts';
import { StackError } from '../stack-error.ts';

/** The first administrator, if this start created it. */
export interface FirstAdministrator {
  email: string;
  /** Null when the user chose it by setting. */
  generatedPassword: string | null;
}

/**
 * Brings the schema up to date, creates the first administrator when there is no account, and requires a registration
 * key where other machines can reach the server.
 * @param secretsFile - stores a generated password until it was shown, so that a crash does not lose it
 * @param report - gets the registration key when this start generated one
 * @throws {StackError} when the database cannot be reached or prepared
 */
export async function prepareDatabase(
  url: string,
  config: Config,
  secrets: StackSecrets,
  secretsFile: string,
  report: (message: string) => void,
): Promise<FirstAdministrator | null> {
  // The ORM takes most of a second to load, which passes while PostgreSQL starts.
  const { migrate, openPersistence } = await loadPersistence();
  const { savePackageFixes } = await import('../../../src/persistence/software/kernels.sql.ts');
  const persistence = await openPersistence({ url, poolSize: 2, applicationName: 'flotilla-stack' }).catch(
    throwAsStackError(url),
  );
  try {
    await migrate(persistence).catch(throwAsStackError(url));
    if (config.simulatedComputers > 0 && !config.databaseUrl) await savePackageFixes(persistence.db, demoFixes());
    const administrator = await ensureAdministrator(persistence, config, secrets, secretsFile);
    if (!isLoopback(config.host)) await closeEnrolment(persistence, config, report);
    return administrator;
  } finally {
    await persistence.close();
  }
}

/** Creates the database on a server. Idempotent. @param adminUrl - of the server's maintenance database */
export async function ensureDatabase(adminUrl: string, name: string): Promise<void> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: adminUrl });
  try {
    await client.connect();
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
  } catch (error) {
    throw new StackError(`The database ${name} cannot be created: ${messageOf(error as Error)}`, { cause: error });
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Loads the database code ahead of its use. */
export function loadPersistence(): Promise<typeof import('../../../src/persistence/orm/orm.ts')> {
  return import('../../../src/persistence/orm/orm.ts');
}

function throwAsStackError(url: string): (error: Error) => never {
  const { host, pathname } = new URL(url);
  return (error) => {
    throw new StackError(`The database ${host}${pathname} cannot be prepared: ${messageOf(error)}`, { cause: error });
  };
}

function messageOf(error: Error): string {
  if (error.message) return error.message;
  return 'errors' in error && Array.isArray(error.errors) ? error.errors.map(String).join(', ') : error.name;
}

async function ensureAdministrator(
  persistence: Persistence,
  config: Config,
  secrets: StackSecrets,
  secretsFile: string,
): Promise<FirstAdministrator | null> {
  const rows = await persistence.db.query('select 1 from account limit 1');
  const hasAccount = rows.length > 0;
  const administrator = { email: config.adminEmail, generatedPassword: secrets.unshownPassword ?? null };
  if (hasAccount) return secrets.unshownPassword ? administrator : null;
  if (config.adminEmail === '') return null;
  let password = config.adminPassword ?? secrets.unshownPassword ?? null;
  if (password === null) {
    password = generatePassword(config.identity.passwords.minCharacters);
    await saveSecrets(secretsFile, { ...secrets, unshownPassword: password });
  }
  const { createStandaloneAccount } = await import('../../../src/services/identity/accounts.service.ts');
  await createStandaloneAccount(persistence, {
    email: config.adminEmail,
    name: 'Administrator',
    password,
    passwords: config.identity.passwords,
    autoRegister: true,
    registrationKey: null,
  }).catch(throwAsSettingError);
  return { email: config.adminEmail, generatedPassword: config.adminPassword === null ? password : null };
}

/** A rejected first administrator means a wrong setting. */
function throwAsSettingError(error: unknown): never {
  const [detail] = error instanceof DomainError ? (error.details ?? []) : [];
  const setting = detail?.path === 'body.password' ? 'FLOTILLA_ADMIN_PASSWORD' : 'FLOTILLA_ADMIN_EMAIL';
  if (detail) throw new StackError(`${setting} ${detail.message}`, { cause: error });
  throw error;
}

async function closeEnrolment(
  persistence: Persistence,
  { host, publicUrl }: Config,
  report: (message: string) => void,
): Promise<void> {
  const { closeStandaloneEnrolment } = await import('../../../src/services/identity/accounts.service.ts');
  const key = await closeStandaloneEnrolment(persistence.db);
  if (key === null) return;
  report(`Registration key  ${key}`);
  report(`Other machines reach ${host}: computers need this key, and wait to be accepted.`);
  report(`PATCH ${publicUrl}/api/v2/preferences changes both, and GET shows the key again.`);
}

/** Removes a generated password once the user has seen it. Idempotent. */
export async function clearUnshownPassword(secrets: StackSecrets, secretsFile: string): Promise<void> {
  const { unshownPassword: _shown, ...kept } = secrets;
  await saveSecrets(secretsFile, kept);
}
