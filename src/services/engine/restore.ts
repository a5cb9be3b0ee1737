import { parseWorkflowOwner } from '../../domain/activities/workflow-id.ts';
import {
  advanceMark,
  drivenAmong,
  endUncertainOperations,
  resetExchangeTokens,
  setMark,
  skipIds,
} from '../../persistence/activities/restore.sql.ts';
import { trySessionLock } from '../../persistence/database/advisory-locks.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { skipPositions } from '../../persistence/events/cloud-events.sql.ts';
import { recordEvent } from '../../persistence/events/events.sql.ts';
import { revokeAfterRestore } from '../../persistence/identity/rights.repository.ts';
import type { RepairDeps } from '../activities/workflows.ts';
import type { Clock } from '../common/ports.ts';
import type { ProfileKinds } from '../schedules/profile-kind.ts';
import { requestEveryScheduleUpdate } from '../schedules/missed-runs.ts';

interface RestoreDeps extends RepairDeps {
  clock: Clock;
  kinds: ProfileKinds;
}

export interface RestoreReport {
  /** Ended operations of unknown outcome. */
  operations: number;
  workflows: string[];
  skippedRuns: number;
}

/**
 * Advances the database's mark to `startedAt`, or repairs a database whose mark is below the server's. Idempotent.
 * @returns by how many milliseconds the server's mark is older; 0 after a repair @throws as {@link repairAfterRestore}
 */
export async function repairIfRestored(deps: RestoreDeps, serverMark: number, startedAt: number): Promise<number> {
  const mark = await advanceMark(deps.db, serverMark, startedAt);
  if (mark !== null) return mark - serverMark;
  await repairAfterRestore(deps, Math.max(startedAt, serverMark));
  return 0;
}

/**
 * Nothing that may have run runs again, no id is reused, every token is revoked. Idempotent. `mark`: lower bound in ms.
 * @throws when another repair is in progress @see docs/reliability.md#an-older-backup-is-restored
 */
export async function repairAfterRestore(deps: RestoreDeps, mark: number): Promise<RestoreReport> {
  const session = await deps.db.connect();
  try {
    if (!(await trySessionLock(session, 'repair'))) throw new Error('a repair after a restore is in progress');
    return await repair(deps, deps.clock.now(), mark);
  } finally {
    // Closing the session releases the lock, even when the connection is already lost.
    session.release(true);
  }
}

async function repair(deps: RestoreDeps, now: Date, mark: number): Promise<RestoreReport> {
  const { db, workflows: onServer, logger } = deps;
  // Before anything can be created under an id that a workflow or an agent already uses.
  const highest = await onServer.highestActivity();
  await db.transaction(async (tx) => {
    await skipIds(tx, now, highest);
    await skipPositions(tx);
  });
  const skippedRuns = await skipMissedRuns(deps, now);
  const operations = await db.transaction(async (tx) => {
    await resetExchangeTokens(tx);
    await revokeAfterRestore(tx);
    return endUncertain(tx, now);
  });
  await requestEveryScheduleUpdate(deps, now);
  const workflows = await terminateOrphans(deps);
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
      const missed = (await kind.datesDueBefore(now)).filter(({ profileId }) => !done.has(profileId));
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

/** Terminates every workflow whose rows do not exist or have ended. Idempotent. @returns their ids */
async function terminateOrphans({ db, workflows }: RestoreDeps): Promise<string[]> {
  const terminated: string[] = [];
  for await (const chunk of workflows.running()) {
    const owned = chunk.map((id) => ({ id, owner: parseWorkflowOwner(id) ?? 0 }));
    const driven = await drivenAmong(db, owned);
    for (const id of chunk) {
      if (driven.has(id)) continue;
      if (await workflows.terminateOrphan(id)) terminated.push(id);
    }
  }
  return terminated;
}
