import type { RejectedMessage } from '../../domain/agents/facts.ts';
import type { ResyncState } from '../../domain/agents/session.ts';
import type { Sql } from '../database/sql.ts';

/** Counts messages without effect by type, and stores the last reason. */
export async function saveRejected(tx: Sql, computerId: number, rejected: readonly RejectedMessage[], now: Date) {
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

/** Saves what agents must report again, one state per computer. */
export async function saveResyncs(tx: Sql, changes: ReadonlyArray<{ computerId: number; resync: ResyncState }>) {
  await tx.query(SAVE_RESYNCS, {
    fields: JSON.stringify(
      changes.map(({ computerId, resync }) => ({
        computer_id: computerId,
        wanted_scopes: resync.wantedScopes,
        asked_scopes: resync.requestedScopes,
        asked_id: resync.requestId,
        asked_at: resync.requestedAt,
      })),
    ),
  });
}

/** Makes agents report their package sets again. */
export async function requestPackageResync(tx: Sql, computers: ReadonlySet<number>): Promise<void> {
  if (computers.size === 0) return;
  const statement =
    'update agent set resync_wanted = true where computer_id = any(:computers::int[]) and not resync_wanted';
  await tx.query(statement, { computers: [...computers] });
}

/** Makes an agent report scopes again, after a later exchange. */
export async function requestScopes(tx: Sql, computerId: number, scopes: readonly string[]): Promise<void> {
  if (scopes.length === 0) return;
  await tx.query(WANT, { computerId, scopes });
}

const SAVE_RESYNCS = `
  update agent a set wanted_scopes = r.wanted_scopes, asked_scopes = r.asked_scopes, asked_id = r.asked_id,
    asked_at = r.asked_at
  from jsonb_to_recordset(:fields::jsonb)
    r(computer_id int, wanted_scopes text[], asked_scopes text[], asked_id bigint, asked_at timestamptz)
  where a.computer_id = r.computer_id`;

const WANT = `
  update agent set wanted_scopes = array(select distinct s from unnest(wanted_scopes || :scopes::text[]) s order by s)
  where computer_id = :computerId`;
