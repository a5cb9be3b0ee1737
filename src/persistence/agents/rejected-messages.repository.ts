import type { RejectedMessage } from '../../domain/agents/facts.ts';
import type { Sql } from '../database/sql.ts';

/** Counts messages without effect by type, and stores the last reason. */
export async function saveRejected(
  tx: Sql,
  computerId: number,
  rejected: readonly RejectedMessage[],
  now: Date,
): Promise<void> {
  const byType = new Map<string, { reason: string; seen: number }>();
  for (const { type, reason } of rejected) byType.set(type, { reason, seen: (byType.get(type)?.seen ?? 0) + 1 });
  const entries = [...byType].sort(([a], [b]) => (a < b ? -1 : 1));
  await tx.query(
    `insert into agent_rejected_message as known (computer_id, type, reason, seen, last_seen_at)
     select :computerId, r.type, r.reason, r.seen, :now from unnest(:types::text[], :reasons::text[], :seens::int[]) r(type, reason, seen)
     on conflict (computer_id, type) do update
       set reason = excluded.reason, seen = known.seen + excluded.seen, last_seen_at = excluded.last_seen_at`,
    {
      computerId,
      types: entries.map(([type]) => type),
      reasons: entries.map(([, { reason }]) => reason),
      seens: entries.map(([, { seen }]) => seen),
      now,
    },
  );
}
