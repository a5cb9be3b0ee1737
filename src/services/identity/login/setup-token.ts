import { randomBytes } from 'node:crypto';
import { DomainError } from '../../../domain/common/errors.ts';
import { findSetting, deleteSetting, insertSetting } from '../../../persistence/common/system-settings.repository.ts';
import type { Database, Sql } from '../../../persistence/database/sql.ts';
import { digestSecret, secretMatches } from './access-keys.ts';

/** `generate`: a token is generated, and its digest is kept until the account exists; null: no token is required. */
export type SetupTokenSetting = { given: string } | 'generate' | null;

const KEY = 'setup_token_digest';
const BYTES = 18;

/** @throws {DomainError} Forbidden */
export async function checkSetupToken(sql: Sql, setting: SetupTokenSetting, given: string | undefined): Promise<void> {
  if (setting === null) return;
  const expected = setting === 'generate' ? await findDigest(sql) : digestSecret(setting.given);
  if (given !== undefined && secretMatches(given, expected)) return;
  throw new DomainError(
    'Forbidden',
    'setup_token has to be the setup token, which an API wrote into its log when it first started, or FLOTILLA_SETUP_TOKEN',
  );
}

/** Generates the setup token, only once even from several processes. @returns the token; null when it exists already */
export async function makeSetupToken(db: Database): Promise<string | null> {
  const token = randomBytes(BYTES).toString('base64url');
  return (await insertSetting(db, KEY, digestSecret(token).toString('hex'))) ? token : null;
}

async function findDigest(sql: Sql): Promise<Buffer | null> {
  const hex = await findSetting(sql, KEY);
  return hex === null ? null : Buffer.from(hex, 'hex');
}

export function deleteSetupToken(tx: Sql): Promise<void> {
  return deleteSetting(tx, KEY);
}
