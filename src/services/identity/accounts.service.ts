import { randomBytes } from 'node:crypto';
import type { IdentitySettings, PasswordPolicy } from '../../process/config.ts';
import { DomainError } from '../../domain/common/errors.ts';
import type { Origin } from '../../domain/events/events.ts';
import { ADMINISTRATOR_ROLE, SEED_ROLES, STANDALONE_ACCOUNT } from '../../domain/identity/permissions.ts';
import type { Persistence } from '../../persistence/orm/orm.ts';
import {
  accountExists,
  closeEnrolment,
  hasAccount,
  insertAccount,
  insertAccountWithAdministrator,
  insertAdministrator,
} from '../../persistence/identity/accounts.repository.ts';
import { type AccountRow, findAccount } from '../../persistence/identity/administration.sql.ts';
import { deleteSetting, findSetting, insertSetting } from '../../persistence/common/system-settings.repository.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import { isAddressTaken } from '../../persistence/database/errors.ts';
import { digestSecret, randomText, secretMatches } from './login/access-keys.ts';
import { lockCaller } from './current-person.ts';
import { emailTaken, readEmail, readLine } from '../common/fields.ts';
import type { Hashing } from '../common/hashing.ts';
import type { LoginThrottle } from './login/login-throttle.ts';
import { checkNewPassword, hashPassword, normalisePassword } from './login/passwords.ts';
import type { Caller } from '../common/ports.ts';
import { record } from './record.ts';

/** @see docs/api-conventions.md#accounts */
const STANDALONE = { name: STANDALONE_ACCOUNT, title: 'Organization' };

interface NewAdministrator {
  email: string;
  name: string;
  password: string;
}

interface AccountsDeps {
  db: Database;
  hashing: Hashing;
  selfService: boolean;
  throttle: LoginThrottle;
  passwords: PasswordPolicy;
  setupToken: IdentitySettings['setupToken'];
}

export type AccountsService = ReturnType<typeof createAccountsService>;

export function createAccountsService(deps: AccountsDeps) {
  const { db, throttle } = deps;
  return {
    standaloneExists: () => accountExists(db, STANDALONE.name),
    /** @returns the new setup token; null if a token or an account exists already, or no token is required */
    async makeSetupToken(): Promise<string | null> {
      if (deps.setupToken !== 'generate' || (await accountExists(db, STANDALONE.name))) return null;
      const token = randomBytes(SETUP_TOKEN_BYTES).toString('base64url');
      return (await insertSetting(db, SETUP_TOKEN, digestSecret(token).toString('hex'))) ? token : null;
    },
    /** Also its first administrator. @throws StandaloneAccountExists, Forbidden, DuplicateEmail, InvalidParameter */
    async createStandalone(
      administrator: NewAdministrator,
      enforceStrength: boolean | undefined,
      origin: Origin,
      setupToken?: string,
    ): Promise<AccountRow> {
      const policy = { ...deps.passwords, strong: enforceStrength ?? deps.passwords.strong };
      const person = checkAdministrator(administrator, policy);
      // Checked before hashing, so that this endpoint cannot be used to burn processor time.
      if (await accountExists(db, STANDALONE.name)) throw alreadyExists();
      await checkSetupToken(db, deps.setupToken, setupToken);
      const { address } = origin;
      const passwordHash = await deps.hashing.run(origin, async () => {
        await throttle.checkRegistration(address);
        return hashPassword(person.password);
      });
      await throttle.register(address, db);
      const { accountId } = await insert(db, { ...person, passwordHash, origin }, false, registrationKey());
      return (await findAccount(db, accountId))!;
    },
    /** The caller becomes its administrator. @throws SelfServiceDisabled, AccountExists, InvalidParameter */
    async createOwn(caller: Caller, title: string): Promise<AccountRow> {
      if (!deps.selfService)
        throw new DomainError('SelfServiceDisabled', 'This deployment has no self-service accounts');
      const line = readLine('body.title', title);
      return db.transaction((tx) => insertOwn(tx, caller, line, throttle));
    },
  };
}

/** In one transaction; with a null key every agent may enrol. @throws StandaloneAccountExists, InvalidParameter */
export async function createStandaloneAccount(
  persistence: Persistence,
  options: NewAdministrator & { passwords: PasswordPolicy; autoRegister: boolean; registrationKey: string | null },
): Promise<{ accountId: number; personId: number }> {
  const person = checkAdministrator(options, options.passwords);
  const passwordHash = await hashPassword(person.password);
  const administrator = { ...person, passwordHash, origin: null };
  return insert(persistence.db, administrator, options.autoRegister, options.registrationKey);
}

const ENROLMENT_CLOSED = 'enrolment_closed';

/** Once per database, requires a key and acceptance unless there is a key. Returns the new key, null without change. */
export async function closeStandaloneEnrolment(db: Database): Promise<string | null> {
  const key = registrationKey();
  return db.transaction(async (tx) => {
    const isThere = await accountExists(tx, STANDALONE.name);
    if (!isThere || !(await insertSetting(tx, ENROLMENT_CLOSED, 'true'))) return null;
    const account = await closeEnrolment(tx, STANDALONE.name, key);
    if (!account) return null;
    const message =
      'Created a registration key: other machines reach this server, so computers need it and wait to be accepted';
    const { id, title } = account;
    await record(tx, { ...SERVER, accountId: id }, 'Preferences', { id, name: title }, message);
    return key;
  });
}

/** Locks the person, so that the second of two concurrent calls sees the account created by the first. */
async function insertOwn(tx: Sql, caller: Caller, title: string, throttle: LoginThrottle): Promise<AccountRow> {
  const { address } = caller.origin;
  const person = await lockCaller(tx, caller);
  await throttle.checkRegistration(address, tx);
  if (await hasAccount(tx, caller.personId))
    throw new DomainError('AccountExists', 'This person already has an account');
  await throttle.register(address, tx);
  let accountId: number | null = null;
  while (accountId === null) {
    const name = randomText(NAME_ALPHABET, NAME_LENGTH);
    const account = { name, title, autoRegister: false, registrationKey: registrationKey() };
    accountId = await insertAccount(tx, account, SEED_ROLES);
  }
  await insertAdministrator(tx, accountId, caller.personId, ADMINISTRATOR_ROLE);
  const account = { id: accountId, name: title };
  await record(tx, { ...caller, accountId }, 'Account', account, `${person.name} created the account`);
  return (await findAccount(tx, accountId))!;
}

const NAME_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const NAME_LENGTH = 8;

async function insert(
  db: Database,
  person: { email: string; name: string; passwordHash: string; origin: Origin | null },
  autoRegister: boolean,
  key: string | null,
): Promise<{ accountId: number; personId: number }> {
  const account = { ...STANDALONE, autoRegister, registrationKey: key };
  const roles = { all: SEED_ROLES, administrator: ADMINISTRATOR_ROLE };
  const operator = { ...person, operator: true };
  const make = async (tx: Sql) => {
    const made = await insertAccountWithAdministrator(tx, account, operator, roles);
    if (!made) return null;
    const { accountId, personId } = made;
    const { email, name, origin } = person;
    const actor = { ...(origin ? { personId, name, origin } : SERVER), accountId };
    const message = `Created the account with its first administrator ${name} <${email}>`;
    await record(tx, actor, 'Account', { id: accountId, name: STANDALONE.title }, message);
    await deleteSetting(tx, SETUP_TOKEN);
    return made;
  };
  const made = await db.transaction(make).catch((error: unknown) => {
    throw isAddressTaken(error) ? emailTaken() : error;
  });
  if (!made) throw alreadyExists();
  return made;
}

const SERVER = { personId: null, name: 'Flotilla', origin: { address: 'local', requestId: 'first-start' } };

function checkAdministrator(given: NewAdministrator, policy: PasswordPolicy): NewAdministrator {
  const email = readEmail('body.email', given.email);
  const name = readLine('body.name', given.name);
  const password = normalisePassword(given.password);
  checkNewPassword(password, policy, [email, name, STANDALONE.title]);
  return { email, name, password };
}

const KEY_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
const KEY_LENGTH = 24;

function registrationKey(): string {
  return randomText(KEY_ALPHABET, KEY_LENGTH);
}

function alreadyExists(): DomainError {
  return new DomainError('StandaloneAccountExists', 'The standalone account already exists');
}

const SETUP_TOKEN = 'setup_token_digest';
const SETUP_TOKEN_BYTES = 18;

async function checkSetupToken(sql: Sql, setting: AccountsDeps['setupToken'], given: string | undefined) {
  if (setting === null) return;
  const hex =
    setting === 'generate' ? await findSetting(sql, SETUP_TOKEN) : digestSecret(setting.given).toString('hex');
  if (given !== undefined && secretMatches(given, hex === null ? null : Buffer.from(hex, 'hex'))) return;
  throw new DomainError(
    'Forbidden',
    'setup_token has to be the setup token, which an API wrote into its log when it first started, or FLOTILLA_SETUP_TOKEN',
  );
}
