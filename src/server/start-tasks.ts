import { logSetupToken } from '../api/identity/first-account.ts';
import type { Database } from '../persistence/database/sql.ts';
import type { Config } from '../process/config.ts';
import type { Logger } from '../process/logger.ts';
import { rotateRecoveryKeys } from '../services/computers/recovery-key-rotation.ts';
import type { Services } from '../services/setup/services.ts';

/** What an API does once when it starts: in the background, because the database may be unavailable then. */
export function runStartTasks(db: Database, services: Services, config: Config, logger: Logger): void {
  void reencryptRecoveryKeys(db, config, logger);
  void logSetupToken(services.accounts, logger);
}

async function reencryptRecoveryKeys(db: Database, config: Config, logger: Logger): Promise<void> {
  try {
    const { rotated, unreadable } = await rotateRecoveryKeys(db, config.encryptionKeys);
    if (rotated > 0) logger.info({ rotated, keyId: config.encryptionKeys[0]!.id }, 're-encrypted recovery keys');
    if (unreadable > 0) logger.warn({ unreadable }, 'recovery keys are encrypted with a key that is not configured');
  } catch (error) {
    logger.warn({ err: error }, 're-encrypting recovery keys failed; the next start tries again');
  }
}
