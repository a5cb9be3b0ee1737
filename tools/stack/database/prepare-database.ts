import { DomainError } from '../../../src/domain/common/errors.ts';
import { migrate, openPersistence, type Persistence } from '../../../src/persistence/orm/orm.ts';
import { savePackageFixes } from '../../../src/persistence/software/kernels.sql.ts';
import { type Config, isLoopback } from '../../../src/process/config.ts';
import { demoFixes } from '../demo-fixes.ts';
import { generatePassword, type StackSecrets, saveSecrets } from '../secrets.ts';
import { StackError } from '../stack-error.ts';

/** The first administrator, if this start created it. */
export interface FirstAdministrator {
  email: string;
  /** Null when the user chose it by setting. */
  generatedPassword: string | null;
}

export interface PreparedDatabase {
  administrator: FirstAdministrator | null;
  /** Null unless this call generated it. */
  registrationKey: string | null;
}

/**
 * Brings the schema up to date, creates the first administrator when there is no account, and requires a registration
 * key where other machines can reach the server.
 * @param secretsFile - stores a generated password until it was shown, so that a crash does not lose it
 * @throws {StackError} when the database cannot be reached or prepared
 */
export async function prepareDatabase(
  url: string,
  config: Config,
  secrets: StackSecrets,
  secretsFile: string,
): Promise<PreparedDatabase> {
  const persistence = await openPersistence({ url, poolSize: 2, applicationName: 'flotilla-stack' }).catch(
    throwAsStackError(url),
  );
  try {
    await migrate(persistence).catch(throwAsStackError(url));
    if (config.simulatedComputers > 0 && !config.databaseUrl) await savePackageFixes(persistence.db, demoFixes());
    const administrator = await ensureAdministrator(persistence, config, secrets, secretsFile);
    const registrationKey = isLoopback(config.host) ? null : await closeEnrolment(persistence);
    return { administrator, registrationKey };
  } finally {
    await persistence.close();
  }
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
  const { createStandaloneAccount } = await loadAccounts();
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

async function closeEnrolment({ db }: Persistence): Promise<string | null> {
  const { closeStandaloneEnrolment } = await loadAccounts();
  return closeStandaloneEnrolment(db);
}

/** Most starts do not need them. */
function loadAccounts() {
  return import('../../../src/services/identity/accounts.service.ts');
}
