import { unauthorized } from '../../domain/common/errors.ts';
import {
  findPreferences,
  type Preferences,
  updatePreferences,
} from '../../persistence/identity/accounts.repository.ts';
import type { Database } from '../../persistence/database/sql.ts';
import { readLine, fieldError } from '../common/fields.ts';
import type { Caller } from '../common/ports.ts';
import { record } from './record.ts';

/** Absent: unchanged. Null: reset to the default; a title has none. */
export type PreferencesEdit = { [F in keyof Preferences]?: Preferences[F] | null };

const MIN_KEY = 3;
const MAX_KEY = 50;
const FOR_EVER = -1;

export type PreferencesService = ReturnType<typeof createPreferencesService>;

export function createPreferencesService({ db }: { db: Database }) {
  return {
    /** @throws {DomainError} Unauthorized when the account no longer exists */
    get: async ({ accountId }: Caller) => requireAccount(await findPreferences(db, accountId)),
    /** Key and auto-registration apply to the next computer that enrols. @throws InvalidParameter */
    async update(caller: Caller, edit: PreferencesEdit): Promise<Preferences> {
      const change = readEdit(edit);
      return db.transaction(async (tx) => {
        const preferences = requireAccount(await updatePreferences(tx, caller.accountId, change));
        const changed = Object.entries(change).flatMap(([key, value]) => (value === undefined ? [] : [WORDS[key]!]));
        const account = { id: caller.accountId, name: preferences.title };
        await record(tx, caller, 'Preferences', account, `Changed ${changed.join(', ') || 'nothing'} of the account`);
        return preferences;
      });
    },
  };
}

/** Names for the event log, which must not contain the registration key. */
const WORDS: Record<string, string> = {
  title: 'title',
  registrationKey: 'registration key',
  autoRegister: 'automatic registration',
  auditRetentionDays: 'retention of audit results and reports',
  agentIntervals: 'intervals of agents',
};

function readEdit(edit: PreferencesEdit): Partial<Preferences> {
  const { title, registrationKey, autoRegister, auditRetentionDays, agentIntervals } = edit;
  if (title === null) throw fieldError('body.title', 'must not be null');
  const change: Partial<Preferences> = {};
  if (title !== undefined) change.title = readLine('body.title', title);
  if (registrationKey !== undefined) change.registrationKey = registrationKey && readKey(registrationKey);
  if (autoRegister !== undefined) change.autoRegister = autoRegister ?? false;
  if (auditRetentionDays !== undefined) change.auditRetentionDays = readDays(auditRetentionDays ?? FOR_EVER);
  if (agentIntervals !== undefined) change.agentIntervals = agentIntervals;
  return change;
}

function readKey(key: string): string {
  const { length } = [...key];
  if (length < MIN_KEY || length > MAX_KEY || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(key) || key !== key.trim()) {
    const message = `must have ${MIN_KEY} to ${MAX_KEY} characters on one line, without spaces at its ends`;
    throw fieldError('body.registration_password', message);
  }
  return key;
}

function readDays(days: number): number {
  if (days === 0) throw fieldError('body.audit_retention_period', 'must be -1 (forever), or at least 1 day');
  return days;
}

/** The account may have been deleted since the caller's rights were read. */
function requireAccount(found: Preferences | null): Preferences {
  if (!found) throw unauthorized();
  return found;
}
