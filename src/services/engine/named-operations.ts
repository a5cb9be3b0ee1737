import { type BatchProgress, waitsFor } from '../../domain/engine/progress.ts';
import type { Database } from '../../persistence/database/sql.ts';
import { readNamedOperations } from '../../persistence/engine/batches.repository.ts';
import type { Change } from '../../persistence/engine/operations.repository.ts';

/** Open operations are only named up to this number: longer lists are not helpful, and finding them is expensive. */
const NAMED_UP_TO = 100;
const MOVED_LIMIT = 25;
const COMPUTERS_LIMIT = 3;

/** Names changed operations, and what open ones wait for, for display in the workflow history. */
export async function nameOperations(
  db: Database,
  batch: number,
  { open, changes, now }: { open: number; changes: readonly Change[]; now: Date },
): Promise<Partial<BatchProgress>> {
  const moves = changes.flatMap(({ ids, from, to }) => (from === to ? [] : ids.map((id) => ({ id, from, to }))));
  const first = moves.slice(0, MOVED_LIMIT);
  const withOpen = open > 0 && open <= NAMED_UP_TO;
  if (first.length === 0 && !withOpen) return {};
  const named = await readNamedOperations(db, batch, { moved: first.map(({ id }) => id), withOpen });
  const titles = new Map(named.map(({ id, title }) => [id, title]));
  const moved = first.map(({ id, from, to }) => ({ computer: titles.get(id) ?? '', operation: id, from, to }));
  const operations = named.filter(({ is_moved }) => !is_moved);
  const computers = new Map(operations.map(({ computer_id, title }) => [computer_id, title]));
  return {
    ...(moved.length > 0 && { moved, moreMoved: moves.length - moved.length }),
    ...(withOpen && {
      operations: operations.map(({ id, title, status, deliver_at }) => ({
        computer: title,
        operation: id,
        waitsFor: waitsFor(status, deliver_at, now),
      })),
      waitingFor: [...computers.values()].slice(0, COMPUTERS_LIMIT),
      moreWaiting: Math.max(0, computers.size - COMPUTERS_LIMIT),
    }),
  };
}
