import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../src/persistence/database/sql.ts';
import type { Api } from '../product/api.ts';

/** The account that acts on all its computers at once. */
export interface BigAccount {
  api: Api;
  db: Database;
  /** Those with agents first. */
  computerIds: readonly number[];
  agents: number;
  pingSeconds: number;
  fleetPid: number;
}

export interface GroupEnd {
  acceptMs: number;
  doneSeconds: number;
}

/** Size of a gateway's writes; the pause keeps it at 2,000 results a second. */
const REPORT_BATCH = 200;
const REPORT_EVERY_MS = 100;
const LOOK_EVERY_MS = 100;
const LIMIT_MS = 900_000;

/** Adds approved computers without agents. */
export async function addSilentComputers(db: Database, account: string, count: number): Promise<number[]> {
  if (count <= 0) return [];
  const rows = await db.query<{ id: number }>(ADD, [account, count]);
  await db.query('analyze computer');
  return rows.map(({ id }) => id);
}

/** One POST /snaps to all computers, until every one of them has reported. */
export async function runBigGroup({ api, db, computerIds, agents }: BigAccount): Promise<GroupEnd> {
  const from = performance.now();
  const body = { action: 'install', computer_ids: computerIds, snaps: [{ name: 'hello-world' }] };
  const { id } = await api.call<{ id: number }>('POST', '/snaps', body);
  const acceptMs = performance.now() - from;
  await reportSilently(db, id, computerIds.slice(agents));
  for (;;) {
    const [row] = await db.query<{ open: number; succeeded: number }>(COUNTS, [id]);
    if (row!.open === 0) {
      assert.equal(row!.succeeded, computerIds.length, 'every computer of the group succeeded');
      return { acceptMs, doneSeconds: (performance.now() - from) / 1000 };
    }
    assert.ok(performance.now() - from < LIMIT_MS, `the group has ${row!.open} open operations`);
    await sleep(LOOK_EVERY_MS);
  }
}

/** Fetches the messages of and reports for computers without an agent, as exchanges would. */
async function reportSilently(db: Database, group: number, computers: readonly number[]): Promise<void> {
  const operations = await db.query<{ id: number }>(
    'select id from activity where parent_id = $1 and computer_id = any($2::int[]) order by id',
    [group, computers],
  );
  const left = operations.map(({ id }) => id);
  while (left.length > 0) {
    const batch = left.splice(0, REPORT_BATCH);
    const done = await db.query<{ id: number }>(REPORT, [batch]);
    const reported = new Set(done.map(({ id }) => id));
    // Not queued yet: their batch was not opened.
    left.push(...batch.filter((id) => !reported.has(id)));
    await sleep(REPORT_EVERY_MS);
  }
}

const ADD = `
  insert into computer (account_id, access_group_id, state, title)
  select a.id, g.id, 'approved', 'silent-' || n
  from account a join access_group g on g.account_id = a.id and g.name = 'global', generate_series(1, $2::int) n
  where a.name = $1
  returning id`;

const COUNTS = 'select open_count as open, succeeded_count as succeeded from activity where id = $1';

const REPORT = `
  with taken as (
    update agent_message set state = 'acked', sent_at = now(), send_count = send_count + 1
    where activity_id = any($1::int[]) and state = 'queued'
    returning activity_id, lane_id
  ), notified as (
    insert into agent_inbox (lane_id, activity_id, kind, ok, code, body)
    select lane_id, activity_id, 'result', true, 0, 'done' from taken
  )
  select activity_id as id from taken`;
