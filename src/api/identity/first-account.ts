import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../process/logger.ts';
import type { AccountsService } from '../../services/identity/accounts.service.ts';

const RETRY_MS = 2_000;

/**
 * Logs the setup token while there is no account, as soon as the database is available. Of several processes only one
 * logs it.
 */
export async function logSetupToken(accounts: AccountsService, logger: Logger): Promise<void> {
  for (;;) {
    try {
      const token = await accounts.makeSetupToken();
      if (token !== null) {
        logger.warn(
          `there is no account yet: create it by POST /api/v2/standalone-account with the setup token ${token}`,
        );
      }
      return;
    } catch {
      // The database may not be available or migrated yet; requests report that.
      await delay(RETRY_MS, undefined, { ref: false });
    }
  }
}
