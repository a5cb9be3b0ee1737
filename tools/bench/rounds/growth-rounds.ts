import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { measure, type Role, type Usage } from '../harness/usage.ts';
import { waitFor } from '../harness/wait.ts';
import type { Ports } from '../load/load.contract.ts';
import type { LoadClient } from '../load/load-client.ts';
import type { Api } from '../product/api.ts';

/** `computerIds` are of the agents of `load`. */
export interface GrowthSetting {
  api: Api;
  agentPorts: Ports;
  database: pg.Client;
  load: LoadClient;
  roles: readonly Role[];
}

/** One group of agents, and the same rows by one statement each. */
export interface GrowthRound {
  computers: number;
  acceptMs: number;
  queuedSeconds: number;
  doneSeconds: number;
  /** INSERT .. SELECT of the operations and messages of the group. */
  bareSeconds: number;
  usage: Usage;
}

const CONNECTIONS = 16;
const SETTLE_MS = 2000;
const LIMIT_MS = 1_800_000;

/** Tables like those of operations and their messages, with the same indexes. */
export async function createBareTables(database: pg.Client): Promise<void> {
  for (const table of ['activity', 'agent_message'])
    await database.query(`create table bench_${table} (like ${table} including defaults including indexes)`);
}

/** One POST /snaps to all, until every agent has reported; its rows are counted, then written again bare. */
export async function growthRound(setting: GrowthSetting, computerIds: readonly number[]): Promise<GrowthRound> {
  const { api, database, load } = setting;
  await sleep(SETTLE_MS);
  const { result, usage } = await measure(setting.roles, async () => {
    const from = performance.now();
    const seconds = () => (performance.now() - from) / 1000;
    const body = { action: 'install', computer_ids: computerIds, snaps: [{ name: 'hello-world' }] };
    const { id } = await api.call<{ id: number }>('POST', '/snaps', body);
    const acceptMs = seconds() * 1000;
    const waiting = 'select count(*) filter (where opened_at is null)::int as n from lane where parent_id = $1';
    await reaches(database, waiting, id, 'all messages queued');
    const queuedSeconds = seconds();
    await load.run({
      kind: 'work',
      port: setting.agentPorts,
      connections: CONNECTIONS,
      operations: computerIds.length,
      limitSeconds: LIMIT_MS / 1000,
    });
    await reaches(database, 'select open_count as n from activity where id = $1', id, 'the end of the group');
    return { id, acceptMs, queuedSeconds, doneSeconds: seconds() };
  });
  const { id, ...times } = result;
  await assertRows(database, id, computerIds.length);
  return { computers: computerIds.length, ...times, bareSeconds: await bareInsert(database, id), usage };
}

async function reaches(database: pg.Client, text: string, id: number, what: string): Promise<void> {
  const look = async () => ((await database.query<{ n: number }>(text, [id])).rows[0]!.n === 0 ? true : null);
  await waitFor(what, look, { everyMs: 20, limitMs: LIMIT_MS });
}

async function assertRows(database: pg.Client, id: number, computers: number): Promise<void> {
  const { rows } = await database.query<Record<string, number>>(
    `select count(*)::int as children, count(*) filter (where c.status = 'succeeded')::int as succeeded,
       count(*) filter (where m.send_count = 1)::int as sent_once
     from activity c left join agent_message m on m.activity_id = c.id where c.parent_id = $1`,
    [id],
  );
  assert.deepEqual({ ...rows[0] }, { children: computers, succeeded: computers, sent_once: computers });
}

async function bareInsert(database: pg.Client, id: number): Promise<number> {
  const from = performance.now();
  await database.query('begin');
  await database.query('insert into bench_activity select * from activity where parent_id = $1', [id]);
  await database.query(
    'insert into bench_agent_message select m.* from agent_message m join activity a on a.id = m.activity_id where a.parent_id = $1',
    [id],
  );
  await database.query('commit');
  const seconds = (performance.now() - from) / 1000;
  await database.query('truncate bench_activity, bench_agent_message');
  return seconds;
}
