import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { DomainError } from '../domain/errors.ts';
import { findSetting, forgetSetting, keepSetting } from '../persistence/repositories/system-settings.repository.ts';
import type { Database, Sql } from '../persistence/sql.ts';

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
  const expected = setting === 'generate' ? await findSetting(sql, KEY) : digest(setting.given);
  const isRight =
    given !== undefined && expected !== null && timingSafeEqual(Buffer.from(digest(given)), Buffer.from(expected));
  if (isRight) return;
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
  return (await keepSetting(db, KEY, digest(token))) ? token : null;
}

/** The account is there: nobody needs the token any more. */
export function forgetSetupToken(tx: Sql): Promise<void> {
  return forgetSetting(tx, KEY);
}

function digest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
