import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { NoOps } from '../baselines/no-op-client.ts';
import { type StorageMeter, type Writes, writesBetween } from '../harness/storage.ts';
import { measure, type Role, type Usage } from '../harness/usage.ts';
import { waitFor } from '../harness/wait.ts';
import type { LoadResult, RepeatRequest } from '../load/load.contract.ts';
import type { LoadClient } from '../load/load-client.ts';
import type { Api } from '../product/api.ts';
import { countsOf } from '../product/database.ts';
import type { BenchFleet } from '../product/fleet.ts';

/** The same for all rounds of one size. */
export interface SnapsSetting {
  api: Api;
  port: number;
  database: pg.Client;
  meter: StorageMeter;
  noOps: NoOps;
  load: LoadClient;
  fleets: readonly BenchFleet[];
  roles: readonly Role[];
  /** Sent all the time while a group runs. */
  probe: RepeatRequest;
}

export interface GroupRound {
  kind: 'group';
  computers: number;
  acceptMs: number;
  queuedSeconds: number;
  doneSeconds: number;
  /** GET /activities/<id> of the finished group. */
  readMs: number;
  probe: LoadResult;
  writes: { postgres: Writes; temporal: Writes };
  usage: Usage;
}

export interface NoOpRound {
  kind: 'no-op';
  count: number;
  seconds: number;
  writes: { postgres: Writes; temporal: Writes };
  usage: Usage;
}

export const NO_OP_COUNT = 300;

/** Maximum open at a time; measured: fewer leave the cores idle between steps, more gain nothing. */
const NO_OP_PARALLEL = 100;
const PROBE_EVERY_MS = 50;
const QUEUED_LIMIT_MS = 60_000;
const DONE_LIMIT_MS = 300_000;
/** Keeps dispatcher, agents and checkpoints of one round out of the next one. */
const SETTLE_MS = 1500;

/** No-op workflows on the same server. */
export async function noOpRound(setting: SnapsSetting): Promise<NoOpRound> {
  await sleep(SETTLE_MS);
  const before = await setting.meter.read();
  const { result, usage } = await measure(setting.roles, () =>
    setting.noOps.run({ count: NO_OP_COUNT, parallel: NO_OP_PARALLEL }),
  );
  return { kind: 'no-op', ...result, writes: difference(before, await setting.meter.read()), usage };
}

/** One POST /snaps, until every computer has reported; then checks the rows and the agents' execution logs. */
export async function groupRound(
  setting: SnapsSetting,
  computerIds: readonly number[],
  action: 'install' | 'remove',
): Promise<GroupRound> {
  await sleep(SETTLE_MS);
  const executionsBefore = executions(setting.fleets);
  const before = await setting.meter.read();
  const stopProbe = setting.load.probe({
    kind: 'probe',
    port: setting.port,
    request: setting.probe,
    everyMs: PROBE_EVERY_MS,
  });
  const { result, usage } = await measure(setting.roles, () => runGroup(setting, computerIds, action));
  const writes = difference(before, await setting.meter.read());
  const probe = await stopProbe();
  await assertRows(setting.database, result.id, computerIds.length);
  const after = executions(setting.fleets);
  assert.equal(after.executed - executionsBefore.executed, computerIds.length, 'every computer executes once');
  assert.equal(after.repeated, 0, 'no operation is executed twice');
  return { kind: 'group', computers: computerIds.length, ...result, probe, writes, usage };
}

async function runGroup(setting: SnapsSetting, computerIds: readonly number[], action: string) {
  const { api, database } = setting;
  const body = { action, computer_ids: computerIds, snaps: [{ name: 'hello-world' }] };
  const from = performance.now();
  const seconds = () => (performance.now() - from) / 1000;
  const { id } = await api.call<{ id: number }>('POST', '/snaps', body);
  const acceptMs = seconds() * 1000;
  const opened = async () => {
    const { rows } = await database.query<{ waiting: number }>({
      name: 'bench-opened',
      text: 'select count(*) filter (where opened_at is null)::int as waiting from lane where parent_id = $1',
      values: [id],
    });
    return rows[0]!.waiting === 0 ? true : null;
  };
  await waitFor('all messages queued', opened, { everyMs: 10, limitMs: QUEUED_LIMIT_MS });
  const queuedSeconds = seconds();
  const ended = async () => ((await countsOf(database, id)).open === 0 ? true : null);
  await waitFor(`the end of activity ${id}`, ended, { everyMs: 20, limitMs: DONE_LIMIT_MS });
  const shown = async () => {
    const requested = performance.now();
    const { activity_status: status } = await api.call<{ activity_status: string }>('GET', `/activities/${id}`);
    if (status === 'failed' || status === 'canceled') throw new Error(await whyNot(database, id, status));
    return status === 'succeeded' ? performance.now() - requested : null;
  };
  const readMs = await waitFor(`activity ${id} to be shown as succeeded`, shown, { everyMs: 20, limitMs: 10_000 });
  return { id, acceptMs, queuedSeconds, doneSeconds: seconds(), readMs };
}

async function whyNot(database: pg.Client, id: number, status: string): Promise<string> {
  const { rows } = await database.query<{ status: string; text: string | null; n: number }>(
    `select status, result_text as text, count(*)::int as n from activity where parent_id = $1
      group by 1, 2 order by n desc limit 5`,
    [id],
  );
  return `activity ${id} ended as ${status}: ${JSON.stringify(rows)}`;
}

/** Conservation: accepted computers = child rows = succeeded rows = acknowledged messages sent once. */
async function assertRows(database: pg.Client, id: number, computers: number): Promise<void> {
  const { rows } = await database.query<Record<string, number>>(
    `select count(*)::int as children,
            count(distinct c.computer_id)::int as distinct_computers,
            count(*) filter (where c.status = 'succeeded')::int as succeeded,
            count(*) filter (where m.state in ('sent', 'acked') and m.send_count = 1)::int as sent_once,
            (select open_count + failed_count + canceled_count from activity where id = $1)::int as not_succeeded,
            (select succeeded_count from activity where id = $1)::int as parent_succeeded
       from activity c left join agent_message m on m.activity_id = c.id
      where c.parent_id = $1`,
    [id],
  );
  const expected = {
    children: computers,
    distinct_computers: computers,
    succeeded: computers,
    sent_once: computers,
    not_succeeded: 0,
    parent_succeeded: computers,
  };
  assert.deepEqual({ ...rows[0] }, expected, `rows of activity ${id}`);
}

function executions(fleets: readonly BenchFleet[]): { executed: number; repeated: number } {
  const results = fleets.map((fleet) => fleet.executions());
  return {
    executed: results.reduce((sum, fleet) => sum + fleet.executed, 0),
    repeated: results.reduce((sum, fleet) => sum + fleet.repeated, 0),
  };
}

function difference(
  before: { postgres: Writes; temporal: Writes },
  after: { postgres: Writes; temporal: Writes },
): { postgres: Writes; temporal: Writes } {
  return {
    postgres: writesBetween(before.postgres, after.postgres),
    temporal: writesBetween(before.temporal, after.temporal),
  };
}
