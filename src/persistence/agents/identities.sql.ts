import { RESULTS_CHANNEL } from '../activities/outbox.sql.ts';
import type { Sql } from '../database/sql.ts';

/** Makes identities in use the only ones of their computers. Owners of the others need new computers. */
export async function claimIdentities(
  tx: Sql,
  exchanges: ReadonlyArray<{ session: { computerId: number }; secureIdHash: Buffer }>,
): Promise<void> {
  const computerIds = exchanges.map(({ session }) => session.computerId);
  const hashes = exchanges.map(({ secureIdHash }) => secureIdHash);
  await tx.query(CLAIM_IDENTITIES, { computerIds, hashes }, 'gateway-claim-identities');
}

/** Ends open operations too; the agent learns that it is unknown. Idempotent: only a call that deletes adds events. */
export async function deleteIdentity(db: Sql, computerId: number, now: Date): Promise<void> {
  await db.query(DELETE_IDENTITY, { computerId, now });
}

export interface IdentifiedComputer {
  id: number;
  accountId: number;
  title: string;
  lastAddress: string | null;
}

/** The approved computer of an identity. */
export async function findApprovedComputer(db: Sql, secureIdHash: Buffer): Promise<IdentifiedComputer | null> {
  const [row] = await db.query<IdentifiedComputer>(
    `select c.id, c.account_id as "accountId", c.title, s.last_address as "lastAddress"
     from agent_identity i join computer c on c.id = i.computer_id join agent s on s.computer_id = c.id
     where i.secure_id_hash = :secureIdHash and c.state = 'approved' and not c.archived`,
    { secureIdHash },
    'gateway-find-computer',
  );
  return row ?? null;
}

const CLAIM_IDENTITIES = `
  with others as (
    delete from agent_identity i using unnest(:computerIds::int[], :hashes::bytea[]) v(computer_id, hash)
    where i.computer_id = v.computer_id and i.secure_id_hash <> v.hash
    returning i.secure_id_hash, i.computer_id
  ), expired as (
    delete from agent_spare_identity
    where computer_id = any(:computerIds::int[]) and created_at < now() - interval '1 week'
  )
  insert into agent_spare_identity (secure_id_hash, computer_id) select secure_id_hash, computer_id from others
  on conflict (secure_id_hash) do nothing`;

const DELETE_IDENTITY = `
  with deleted as (
    delete from agent_identity where computer_id = :computerId returning computer_id
  ), open as (
    select m.activity_id, m.lane_id, m.state
    from activity a join agent_message m on m.activity_id = a.id
    where a.computer_id = :computerId and a.status in ('undelivered', 'delivered')
      and m.state in ('held', 'queued', 'sent', 'acked') and exists (select from deleted)
    order by m.activity_id for update of m
  ), dropped as (
    update agent_message m set state = 'dropped' from open o where m.activity_id = o.activity_id and m.state <> 'acked'
  )
  insert into agent_inbox (lane_id, activity_id, kind, at) select lane_id, activity_id, 'gone', :now from open
  returning pg_notify('${RESULTS_CHANNEL}', '')`;
