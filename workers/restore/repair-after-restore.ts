import type { Client } from '@temporalio/client';
import {
  endUncertainOperations,
  resetExchangeTokens,
  setMark,
  skipIds,
} from '../../src/persistence/activities/restore.sql.ts';
import { trySessionLock } from '../../src/persistence/database/advisory-locks.ts';
import type { Database, Sql } from '../../src/persistence/database/sql.ts';
import { recordEvent } from '../../src/persistence/events/events.sql.ts';
import { revokeAfterRestore } from '../../src/persistence/identity/rights.repository.ts';
import type { Logger } from '../../src/process/logger.ts';
import type { ProfileKinds } from '../../src/services/schedules/profile-kind.ts';
import { requestEveryScheduleUpdate } from '../reconciler/missed-runs.ts';
import { highestActivity, terminateOrphans } from './orphan-workflows.ts';

export interface RestoreDeps {
  db: Database;
  client: Client;
  kinds: ProfileKinds;
  logger: Logger;
}

export interface RestoreReport {
  /** Ended operations of unknown outcome. */
  operations: number;
  workflows: string[];
  skippedRuns: number;
}

/**
 * Nothing that may have run runs again, no id is reused, every token is revoked. Idempotent. `mark`: lower bound in ms.
 * @throws when another repair is in progress @see docs/reliability.md#an-older-backup-is-restored
 */
export async function repairAfterRestore(deps: RestoreDeps, now: Date, mark: number): Promise<RestoreReport> {
  const session = await deps.db.connect();
  try {
    if (!(await trySessionLock(session, 'repair'))) throw new Error('a repair after a restore is in progress');
    return await repair(deps, now, mark);
  } finally {
    // Closing the session releases the lock, even when the connection is already lost.
    session.release(true);
  }
}

async function repair(deps: RestoreDeps, now: Date, mark: number): Promise<RestoreReport> {
  const { db, client, logger } = deps;
  // Before anything can be created under an id that a workflow or an agent knows.
  const highest = await highestActivity(client);
  await db.transaction((tx) => skipIds(tx, now, highest));
  const skippedRuns = await skipMissedRuns(deps, now);
  const operations = await db.transaction(async (tx) => {
    await resetExchangeTokens(tx);
    await revokeAfterRestore(tx);
    return endUncertain(tx, now);
  });
  await requestEveryScheduleUpdate(deps, now);
  const workflows = await terminateOrphans(db, client);
  // Last, so that an interrupted repair starts over.
  await setMark(db, mark);
  const report = { operations, workflows, skippedRuns };
  logger.warn(
    { operations, workflows: workflows.length, skippedRuns },
    'the database was restored from a backup: operations of unknown outcome are ended, all tokens are revoked',
  );
  return report;
}

async function endUncertain(tx: Sql, now: Date): Promise<number> {
  const byAccount = await endUncertainOperations(tx, now);
  let total = 0;
  for (const { accountId, accountName, operations } of byAccount) {
    total += operations;
    const actor = { accountId, personId: null, name: 'Restore', origin: { address: '', requestId: '' } };
    await recordEvent(tx, actor, {
      entityType: 'Account',
      entityId: accountId,
      entityName: accountName,
      message: `The database was restored from a backup: ${operations} operations of unknown outcome were ended`,
    });
  }
  return total;
}

async function skipMissedRuns({ kinds }: RestoreDeps, now: Date): Promise<number> {
  let skipped = 0;
  for (const kind of kinds.values()) {
    const done = new Set<number>();
    for (;;) {
      const missed = (await kind.missedRuns(now)).filter(({ profileId }) => !done.has(profileId));
      if (missed.length === 0) break;
      for (const { profileId, scheduledTime } of missed) {
        await kind.skipRun(profileId, scheduledTime, now);
        await kind.extendSchedule(profileId, now);
        done.add(profileId);
      }
    }
    skipped += done.size;
  }
  return skipped;
}
