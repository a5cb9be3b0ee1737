import { requestScopes, saveRejected } from '../../persistence/agents/rejected-messages.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { withSavepoint } from '../../persistence/database/transactions.ts';
import type { BValue } from '../../protocol/bpickle.ts';
import { emptyFacts, type Facts } from './facts.ts';
import { Faults } from './faults.ts';
import { isUnstorable } from './fields.ts';
import { messageType, readMessages, rejectMessage } from './read-messages.ts';
import { type SaveContext, saveFacts, saveFaults } from './save-facts.ts';
import { scopesOf } from './scopes.ts';

/** Skips messages that cannot be stored. Slow: only after saving all together failed. @throws without the database */
export async function saveOneByOne(
  tx: Sql,
  context: SaveContext,
  messages: readonly BValue[],
  facts: Facts,
): Promise<Set<number>> {
  const common = {
    ...emptyFacts(),
    // Whether a key counts depends on all results of the payload. An encrypted key can always be stored.
    results: facts.results,
    recoveryKeys: facts.recoveryKeys,
    inventory: facts.inventory.client_types ? { client_types: facts.inventory.client_types } : {},
  };
  await trySave(tx, () => saveFacts(tx, [{ context, facts: common }]));
  const inconsistent = new Set<number>();
  const failed = { rejected: [], faults: new Faults() };
  for (const message of messages) {
    const part = { ...readMessages([message], facts.openResyncs), recoveryKeys: [] };
    const saved = await trySave(tx, () => saveFacts(tx, [{ context, facts: part }]));
    if (saved) for (const computerId of saved) inconsistent.add(computerId);
    else rejectMessage(failed, messageType(message), 'could not be stored');
  }
  if (failed.rejected.length === 0) return inconsistent;
  await saveRejected(tx, context.computerId, failed.rejected, context.now);
  await saveFaults(tx, [{ computerId: context.computerId, faults: failed.faults.all }], context.now);
  await requestScopes(tx, context.computerId, scopesOf(failed.faults.rejectedTypes));
  for (const fault of failed.faults.all) facts.faults.add(fault);
  return inconsistent;
}

async function trySave<T>(tx: Sql, save: () => Promise<T>): Promise<T | null> {
  return withSavepoint(tx, save).catch((error: unknown) => {
    if (!isUnstorable(error)) throw error;
    return null;
  });
}
