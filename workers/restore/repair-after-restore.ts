import type { Client } from '@temporalio/client';
import {
  endUncertainOperations,
  resetExchangeTokens,
  setMark,
  skipIds,
} from '../../src/persistence/activities/restore.repository.ts';
import { trySessionLock } from '../../src/persistence/database/advisory-locks.ts';
import type { Database, Sql } from '../../src/persistence/database/sql.ts';
import { recordEvent } from '../../src/persistence/events/events.repository.ts';
import { revokeAfterRestore } from '../../src/persistence/identity/revocations.repository.ts';
import type { Logger } from '../../src/process/logger.ts';
import type { ProfileKinds } from '../../src/services/schedules/profile-kind.ts';
import { orderEverySchedule } from '../reconciler/missed-dates.ts';
import { highestActivity, terminateOrphans } from './orphan-workflows.ts';

export interface RestoreDeps {
  db: Database;
  client: Client;
  kinds: ProfileKinds;
  logger: Logger;
}

/** What a repair after a restore did. */
export interface RestoreReport {
  /** Operations whose outcome is not known, ended. */
  operations: number;
  /** Workflows that drove nothing any more, terminated. */
  workflows: string[];
  /** Dates of profiles that may have had their run, passed over. */
  dates: number;
}

/**
 * Brings a database that was restored from a backup in line with a Temporal server, agents and people that know more,
 * always to the stricter side: nothing that may have been carried out is carried out again, no id is given out twice,
 * no token is good any more.
 * @param mark - what the reconciler's mark becomes at least, in ms since the epoch
 * @throws when another one is under way
 * @remarks Safe to repeat. What only the server lost needs none of this: the reconciler starts workflows again.
 * @see docs/reliability.md#an-older-backup-is-restored
 */
export async function repairAfterRestore(deps: RestoreDeps, now: Date, mark: number): Promise<RestoreReport> {
  return await alone(deps.db, () => repair(deps, now, mark));
}

/** @throws when a repair is under way already: one that takes longer than its caller waits goes on by itself */
async function alone<T>(db: Database, work: () => Promise<T>): Promise<T> {
  const session = await db.connect();
  try {
    if (!(await trySessionLock(session, 'repair'))) throw new Error('a repair after a restore is under way');
    return await work();
  } finally {
    // Closing the session gives the lock back, also when it is lost already.
    session.release(true);
  }
}

async function repair(deps: RestoreDeps, now: Date, mark: number): Promise<RestoreReport> {
  const { db, client, logger } = deps;
  // Before anything can be made anew under an id that a workflow or an agent knows.
  const highest = await highestActivity(client);
  await db.transaction((tx) => skipIds(tx, now, highest));
  const dates = await passOverDates(deps, now);
  const operations = await db.transaction(async (tx) => {
    await resetExchangeTokens(tx);
    await revokeAfterRestore(tx);
    return endUncertain(tx, now);
  });
  await orderEverySchedule(deps, now);
  const workflows = await terminateOrphans(db, client);
  // Last: a repair that was cut off is begun again.
  await setMark(db, mark);
  const report = { operations, workflows, dates };
  logger.warn(
    { operations, workflows: workflows.length, dates },
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

async function passOverDates({ kinds }: RestoreDeps, now: Date): Promise<number> {
  let passed = 0;
  for (const kind of kinds.values()) {
    const done = new Set<number>();
    for (;;) {
      const missed = (await kind.missedRuns(now)).filter(({ profileId }) => !done.has(profileId));
      if (missed.length === 0) break;
      for (const { profileId, scheduledTime } of missed) {
        await kind.skipRun(profileId, scheduledTime, now);
        await kind.refill(profileId, now);
        done.add(profileId);
      }
    }
    passed += done.size;
  }
  return passed;
}
