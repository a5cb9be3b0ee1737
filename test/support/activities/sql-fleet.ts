import { createGroup } from '../../../src/persistence/activities/activity-creation.repository.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { loadConfig } from '../../../src/process/config.ts';
import { aLoneOperation } from './activity-rows.ts';

/** What the gateway and its agents do to the database, without them: set-based, for dispatcher and worker tests. */
export interface SqlFleet {
  accountId: number;
  computers: number[];
  /** Creates an activity as POST does, to be delivered at once or later. @returns its id */
  act(computers?: readonly number[], deliverAfter?: Date): Promise<number>;
  /** Creates an operation without a group. @returns its id */
  actAlone(computer: number): Promise<number>;
  /** Hands out what is queued and due. @returns how many */
  deliver(limit?: number): Promise<number>;
  /** Reports on delivered messages. @returns how many */
  report(ok?: boolean, limit?: number): Promise<number>;
  /** Cancels as the API does: whole groups through their workflow too. */
  cancelGroup(activity: number): Promise<void>;
}

const OPERATION = {
  type: 'InstallSnaps',
  summary: 'Install snap hello',
  message: { type: 'install-snaps', fields: {} },
};
const { activities: SETTINGS } = loadConfig({}, 'stack');

/** An account with `size` approved computers titled web-1, web-2, ... */
export async function createSqlFleet(db: Database, size: number): Promise<SqlFleet> {
  const [account] = await db.query<{ id: number }>(
    `insert into account (name, title) values ('t' || gen_random_uuid(), 'Test') returning id`,
  );
  const accountId = account!.id;
  const [group] = await db.query<{ id: number }>(
    `insert into access_group (account_id, name, title) values ($1, 'global', 'Global') returning id`,
    [accountId],
  );
  const rows = await db.query<{ id: number }>(
    `insert into computer (account_id, access_group_id, state, title)
     select $1, $2, 'approved', 'web-' || n from generate_series(1, $3::int) n returning id`,
    [accountId, group!.id, size],
  );
  const computers = rows.map(({ id }) => id);
  return {
    accountId,
    computers,
    act: (chosen = computers, deliverAfter) =>
      db.transaction((tx) =>
        createGroup(
          tx,
          {
            accountId,
            creatorId: null,
            type: 'ActivityGroup',
            summary: 'Install snap hello',
            now: new Date(),
            deliverAfter: deliverAfter ?? null,
            windowMinutes: 0,
            computers: chosen,
            operations: [OPERATION],
          },
          SETTINGS,
        ),
      ),
    actAlone: (computer) => aLoneOperation(db, { accountId, computer, now: new Date() }),
    deliver: (limit = 100_000) => count(db, DELIVER, [accountId, limit]),
    report: (ok = true, limit = 100_000) => count(db, REPORT, [accountId, ok, limit]),
    cancelGroup: (activity) =>
      db.transaction(async (tx) => {
        await tx.query(`insert into agent_inbox (lane_id, kind) select id, 'cancel' from lane where parent_id = $1`, [
          activity,
        ]);
        await tx.query(`insert into outbox (kind, key) values ('cancel', 'activity/' || $1::int)`, [activity]);
        await tx.query(`select pg_notify('flotilla_outbox', '')`);
      }),
  };
}

async function count(db: Database, text: string, values: readonly unknown[]): Promise<number> {
  const [row] = await db.query<{ count: number }>(text, values);
  return row!.count;
}

const DELIVER = `
  with due as (
    select m.activity_id from agent_message m join activity a on a.id = m.activity_id
    where a.account_id = $1 and m.state = 'queued' and m.deliver_at <= now() order by 1 limit $2 for update of m
  ), sent as (
    update agent_message m set state = 'sent', sent_at = now(), send_count = send_count + 1
    from due where m.activity_id = due.activity_id returning m.activity_id, m.lane_id
  ), told as (insert into agent_inbox (lane_id, activity_id, kind) select lane_id, activity_id, 'delivered' from sent)
  select count(*)::int as count from sent`;

const REPORT = `
  with due as (
    select m.activity_id from agent_message m join activity a on a.id = m.activity_id
    where a.account_id = $1 and m.state = 'sent' order by 1 limit $3 for update of m
  ), acked as (
    update agent_message m set state = 'acked' from due where m.activity_id = due.activity_id
    returning m.activity_id, m.lane_id
  ), told as (
    insert into agent_inbox (lane_id, activity_id, kind, ok, code, body)
    select lane_id, activity_id, 'result', $2, 0, 'done' from acked)
  select count(*)::int as count from acked`;
