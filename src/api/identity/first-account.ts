import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../process/logger.ts';
import type { AccountsService } from '../../services/identity/accounts.service.ts';

const PAUSE_MS = 2_000;

/**
 * Writes the setup token into the log once where there is no account yet, whenever the database is there for that. Of
 * several processes one does.
 */
export async function announceSetupToken(accounts: AccountsService, logger: Logger): Promise<void> {
  for (;;) {
    try {
      const token = await accounts.makeSetupToken();
      if (token !== null) {
        logger.warn(`there is no account yet: POST /api/v2/standalone-account makes it with the setup token ${token}`);
      }
      return;
    } catch {
      // The database or its schema may still be on its way; requests tell of it.
      await delay(PAUSE_MS, undefined, { ref: false });
    }
  }
}
