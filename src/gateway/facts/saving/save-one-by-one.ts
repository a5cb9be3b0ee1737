import type { Sql } from '../../../persistence/database/sql.ts';
import type { BValue } from '../../../protocol/bpickle.ts';
import type { Facts } from '../facts.ts';
import { noFacts } from '../facts.ts';
import { Faults } from '../faults.ts';
import { isUnstorable } from '../fields.ts';
import { messageType, readMessages, reject } from '../read-messages.ts';
import { scopesOf, wantScopes } from '../scopes.ts';
import { type SaveContext, saveFacts, saveFaults, saveRejected } from './save-facts.ts';

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
  const failed = { rejected: [], faults: new Faults() };
  for (const message of messages) {
    const part = { ...readMessages([message], facts.openResyncs), recoveryKeys: [] };
    const saved = await trySave(tx, () => saveFacts(tx, [{ context, facts: part }]));
    if (saved) for (const computerId of saved) apart.add(computerId);
    else reject(failed, messageType(message), 'could not be stored');
  }
  if (failed.rejected.length === 0) return apart;
  await saveRejected(tx, context.computerId, failed.rejected, context.now);
  await saveFaults(tx, [{ computerId: context.computerId, faults: failed.faults.all }], context.now);
  await wantScopes(tx, context.computerId, scopesOf(failed.faults.refused));
  for (const fault of failed.faults.all) facts.faults.add(fault);
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
