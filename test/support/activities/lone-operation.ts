import { addStartCommand } from '../../../src/persistence/activities/outbox.repository.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';

/** Where an operation without a group is to be. */
export interface LoneOperation {
  accountId: number;
  computer: number;
  now: Date;
}

/**
 * An operation that belongs to no group, as a database may hold it: its batch is the top workflow, which is ordered to
 * start. No service makes one.
 *
 * @returns its id
 */
export function aLoneOperation(db: Database, { accountId, computer, now }: LoneOperation): Promise<number> {
  return db.transaction(async (tx) => {
    const [row] = await tx.query<{ id: number }>(INSERT, [accountId, computer, now]);
    await addStartCommand(tx, row!.id, { accountId, now });
    return row!.id;
  });
}

const INSERT = `
  with payload as (
    insert into operation_payload (account_id, message_type, fields, creation_time)
    values ($1::int, 'install-snaps', '{"snaps": [{"name": "hello"}]}', $3::timestamptz) returning id
  ), own as (
    select nextval('activity_id_seq')::int as id
  ), opened as (
    insert into lane (account_id, wf_id, single, ordinal, size, open_count, summary, created_at)
    select $1::int, 'activity/' || id, true, 1, 1, 1, 'Install snap hello', $3::timestamptz from own returning id
  )
  insert into activity (id, account_id, lane_id, computer_id, payload_id, type, summary, status, creation_time, deliver_at)
  select own.id, $1::int, opened.id, $2::int, payload.id, 'InstallSnaps', 'Install snap hello', 'undelivered',
    $3::timestamptz, $3::timestamptz
  from own, opened, payload returning id`;
