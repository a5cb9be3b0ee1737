import { unauthorized } from '../../domain/common/errors.ts';
import { recordEvent } from '../../persistence/events/events.sql.ts';
import {
  findPreferences,
  type Preferences,
  updatePreferences,
} from '../../persistence/identity/preferences.repository.ts';
import type { Database } from '../../persistence/database/sql.ts';
import { readLine, fieldError } from '../common/fields.ts';
import type { Caller } from '../common/ports.ts';

/** Absent: unchanged. Null: reset to the default; a title has none. */
export interface PreferencesEdit {
  title?: string | null | undefined;
  registrationKey?: string | null | undefined;
  autoRegister?: boolean | null | undefined;
  /** -1: forever. */
  auditRetentionDays?: number | null | undefined;
}

export interface PreferencesService {
  /** Includes the registration key. */
  get(caller: Caller): Promise<Preferences>;
  /**
   * Changes the fields that are present. Key and auto-registration apply to the next computer that enrols.
   * @throws {DomainError} InvalidParameter
   * @see docs/api-conventions.md#passwords-preferences-and-features
   */
  update(caller: Caller, edit: PreferencesEdit): Promise<Preferences>;
}

const MIN_KEY = 3;
const MAX_KEY = 50;
const FOR_EVER = -1;

export function createPreferencesService(deps: { db: Database }): PreferencesService {
  return {
    async get(caller) {
      return (await findPreferences(deps.db, caller.accountId)) ?? rejectDeletedAccount();
    },
    update(caller, edit) {
      const change = readEdit(edit);
      return deps.db.transaction(async (tx) => {
        const preferences = (await updatePreferences(tx, caller.accountId, change)) ?? rejectDeletedAccount();
        const changed = Object.entries(change).flatMap(([key, value]) => (value === undefined ? [] : [WORDS[key]!]));
        await recordEvent(tx, caller, {
          entityType: 'Preferences',
          entityId: caller.accountId,
          entityName: preferences.title,
          message: `Changed ${changed.join(', ') || 'nothing'} of the account`,
        });
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
};

function readEdit(edit: PreferencesEdit): Partial<Preferences> {
  const { title, registrationKey, autoRegister, auditRetentionDays } = edit;
  if (title === null) throw fieldError('body.title', 'must not be null');
  const change: Partial<Preferences> = {};
  if (title !== undefined) change.title = readLine('body.title', title);
  if (registrationKey !== undefined) change.registrationKey = registrationKey && readKey(registrationKey);
  if (autoRegister !== undefined) change.autoRegister = autoRegister ?? false;
  if (auditRetentionDays !== undefined) change.auditRetentionDays = readDays(auditRetentionDays ?? FOR_EVER);
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

function rejectDeletedAccount(): never {
  throw unauthorized();
}
