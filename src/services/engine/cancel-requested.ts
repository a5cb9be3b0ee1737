import { withdrawMessages } from '../../persistence/activities/agent-messages.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { type Change, cancelOperations } from '../../persistence/engine/operations.sql.ts';
import type { CancelRequest } from '../../persistence/engine/pending-events.sql.ts';

/** Cancels requested operations or the whole batch, and withdraws unsent messages. */
export async function cancelRequested(
  tx: Sql,
  batch: number,
  requests: readonly CancelRequest[],
  { cancelAll, now }: { cancelAll: boolean; now: Date },
): Promise<Change[]> {
  const whole = requests.find(isOfWholeBatch);
  const single = requests.filter((request) => !isOfWholeBatch(request));
  const changes: Change[] = [];
  // Single operations first, because the rest of the batch may have another text or none.
  for (const [text, named] of Map.groupBy(single, (request) => request.text)) {
    const ids = named.map(({ activity }) => activity!);
    changes.push(...(await cancelOperations(tx, batch, ids, now, text)));
  }
  if (whole || cancelAll) changes.push(...(await cancelOperations(tx, batch, null, now, whole?.text ?? null)));
  const canceled = changes.flatMap(({ ids }) => ids);
  await withdrawMessages(tx, canceled);
  return changes;
}

export function isOfWholeBatch({ activity }: CancelRequest): boolean {
  return activity === null;
}
