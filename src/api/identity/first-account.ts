import pRetry from 'p-retry';
import type { Logger } from '../../process/logger.ts';
import { retryEvery } from '../../process/retry.ts';
import type { AccountsService } from '../../services/identity/accounts.service.ts';

const RETRY_MS = 2_000;

/** Logs the setup token while there is no account, once the database is available; of several processes one does. */
export async function logSetupToken(accounts: AccountsService, logger: Logger): Promise<void> {
  // The database may not be available or migrated yet; requests report that.
  const token = await pRetry(() => accounts.makeSetupToken(), { ...retryEvery(RETRY_MS), unref: true });
  if (token === null) return;
  logger.warn(`there is no account yet: create it by POST /api/v2/standalone-account with the setup token ${token}`);
}
