import type { Database } from '../../persistence/database/sql.ts';

/**
 * Ends what a removed computer was given, as it forgets its identity now: nothing of it can ever be answered.
 *
 * @remarks Idempotent: only the call that removes the identities writes the news.
 */
export async function bury(db: Database, computerId: number, now: Date): Promise<void> {
  await db.query(BURY, [computerId, now]);
}

const BURY = `
  with forgotten as (
    delete from agent_identity where computer_id = $1 returning computer_id
  ), lost as (
    select m.activity_id, m.lane_id, m.state
    from activity a join agent_message m on m.activity_id = a.id
    where a.computer_id = $1 and a.status in ('undelivered', 'delivered')
      and m.state in ('held', 'queued', 'sent', 'acked') and exists (select from forgotten)
    order by m.activity_id for update of m
  ), dropped as (
    update agent_message m set state = 'dropped' from lost l where m.activity_id = l.activity_id and m.state <> 'acked'
  )
  insert into agent_inbox (lane_id, activity_id, kind, at) select lane_id, activity_id, 'gone', $2 from lost`;
