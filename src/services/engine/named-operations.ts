import { type BatchProgress, type GroupOperation, type OpenOperation, waitsFor } from '../../domain/engine/progress.ts';
import type { Database } from '../../persistence/database/sql.ts';
import { type NamedOperation, readGroupOperations, readNamedOperations } from '../../persistence/engine/batches.sql.ts';
import type { Change } from '../../persistence/engine/operations.sql.ts';

const OPEN_LIMIT = 100;
const MOVED_LIMIT = 25;
const COMPUTERS_LIMIT = 3;

/** Names the first changed operations, and what the first open ones wait for, for the history and queries. */
export async function nameOperations(
  db: Database,
  batch: number,
  { open, changes, now }: { open: number; changes: readonly Change[]; now: Date },
): Promise<Partial<BatchProgress>> {
  const moves = changes.flatMap(({ ids, from, to }) => (from === to ? [] : ids.map((id) => ({ id, from, to }))));
  const first = moves.slice(0, MOVED_LIMIT);
  const openLimit = open > 0 ? OPEN_LIMIT : 0;
  if (first.length === 0 && openLimit === 0) return {};
  const named = await readNamedOperations(db, batch, { moved: first.map(({ id }) => id), openLimit });
  const titles = new Map(named.map(({ id, title }) => [id, title]));
  const moved = first.map(({ id, from, to }) => ({ computer: titles.get(id) ?? '', operation: id, from, to }));
  const operations = named.filter(({ is_moved }) => !is_moved);
  const computers = new Map(operations.map(({ computer_id, title }) => [computer_id, title]));
  return {
    ...(moved.length > 0 && { moved, moreMoved: moves.length - moved.length }),
    ...(openLimit > 0 && {
      operations: operations.map((operation) => toOpenOperation(operation, now)),
      waitingFor: [...computers.values()].slice(0, COMPUTERS_LIMIT),
      moreWaiting: Math.max(0, (named[0]?.open_computers ?? 0) - COMPUTERS_LIMIT),
    }),
  };
}

/** The first open operations of a group and what each waits for, for queries. */
export async function listGroupOperations(db: Database, group: number, now: Date): Promise<GroupOperation[]> {
  const operations = await readGroupOperations(db, group, OPEN_LIMIT);
  return operations.map((operation) => ({ ...toOpenOperation(operation, now), workflowId: operation.wf_id }));
}

function toOpenOperation(
  { id, title, status, deliver_at }: Pick<NamedOperation, 'id' | 'title' | 'status' | 'deliver_at'>,
  now: Date,
): OpenOperation {
  return { computer: title, operation: id, waitsFor: waitsFor(status, deliver_at, now) };
}
