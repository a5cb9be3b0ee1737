import { randomBytes } from 'node:crypto';
import { DomainError } from '../../../domain/common/errors.ts';
import { findSetting, forgetSetting, keepSetting } from '../../../persistence/common/system-settings.repository.ts';
import type { Database, Sql } from '../../../persistence/database/sql.ts';
import { digestSecret, secretMatches } from './access-keys.ts';

/** `generate`: one is made and kept, as a digest, until the account is there; null: nobody needs one. */
export type SetupTokenSetting = { given: string } | 'generate' | null;

const KEY = 'setup_token_digest';
const BYTES = 18;

/**
 * Refuses a first account to whoever does not have the setup token.
 *
 * @throws {DomainError} Forbidden
 */
export async function checkSetupToken(sql: Sql, setting: SetupTokenSetting, given: string | undefined): Promise<void> {
  if (setting === null) return;
  const expected = setting === 'generate' ? await findDigest(sql) : digestSecret(setting.given);
  if (given !== undefined && secretMatches(given, expected)) return;
  throw new DomainError(
    'Forbidden',
    'setup_token has to be the setup token, which an API wrote into its log when it first started, or FLOTILLA_SETUP_TOKEN',
  );
}

/**
 * Makes the setup token where there is none yet. Of several processes at once one makes it.
 *
 * @returns it, for the log; null where it was made before
 */
export async function makeSetupToken(db: Database): Promise<string | null> {
  const token = randomBytes(BYTES).toString('base64url');
  return (await keepSetting(db, KEY, digestSecret(token).toString('hex'))) ? token : null;
}

async function findDigest(sql: Sql): Promise<Buffer | null> {
  const hex = await findSetting(sql, KEY);
  return hex === null ? null : Buffer.from(hex, 'hex');
}

/** The account is there: nobody needs the token any more. */
export function forgetSetupToken(tx: Sql): Promise<void> {
  return forgetSetting(tx, KEY);
}
