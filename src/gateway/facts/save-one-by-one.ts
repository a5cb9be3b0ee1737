import type { Sql } from '../../persistence/sql.ts';
import type { BValue } from '../../protocol/bpickle.ts';
import type { Facts } from './facts.ts';
import { noFacts } from './facts.ts';
import { isUnstorable } from './fields.ts';
import { messageType, readMessages } from './read-messages.ts';
import { type SaveContext, saveFacts, saveRejected } from './save-facts.ts';

/**
 * As saving all facts at once, for payloads where that failed: each message alone, so that the one that cannot be
 * stored is put aside and the others count. Slow, and rare.
 *
 * @throws when the database cannot store anything just now
 */
export async function saveOneByOne(
  tx: Sql,
  context: SaveContext,
  messages: readonly BValue[],
  facts: Facts,
): Promise<Set<number>> {
  const aside = {
    ...noFacts(),
    // A key counts by what else the payload says of its operation, and sealed it can always be stored.
    results: facts.results,
    recoveryKeys: facts.recoveryKeys,
    inventory: facts.inventory.client_types ? { client_types: facts.inventory.client_types } : {},
  };
  await trySave(tx, () => saveFacts(tx, [{ context, facts: aside }]));
  const apart = new Set<number>();
  const rejected = [];
  for (const message of messages) {
    const part = { ...readMessages([message], facts.openResync), recoveryKeys: [] };
    const saved = await trySave(tx, () => saveFacts(tx, [{ context, facts: part }]));
    if (saved) for (const computerId of saved) apart.add(computerId);
    else rejected.push({ type: messageType(message), reason: 'could not be stored' });
  }
  if (rejected.length > 0) await saveRejected(tx, context.computerId, rejected, context.now);
  return apart;
}

async function trySave<T>(tx: Sql, save: () => Promise<T>): Promise<T | null> {
  await tx.query('savepoint message');
  try {
    const saved = await save();
    await tx.query('release savepoint message');
    return saved;
  } catch (error) {
    await tx.query('rollback to savepoint message');
    await tx.query('release savepoint message');
    if (!isUnstorable(error)) throw error;
    return null;
  }
}
