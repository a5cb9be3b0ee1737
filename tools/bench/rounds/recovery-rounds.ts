import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { measure, type Role, type Usage } from '../harness/usage.ts';
import { waitFor } from '../harness/wait.ts';
import type { Api } from '../product/api.ts';
import { countsOf } from '../product/database.ts';
import type { BenchFleet } from '../product/fleet.ts';
import type { Stack } from '../product/stack.ts';

export interface RecoverySetting {
  api: Api;
  /** Of the database, which is killed and restarted. */
  url: string;
  fleet: BenchFleet;
  /** Computers of an action, and one beside them. */
  targets: readonly number[];
  spare: number;
  stack(): Stack;
  /** Restarts the stack; resolves when GET /readyz is 200. */
  start(): Promise<void>;
}

interface Start {
  ready: number;
  /** Until the API responded to a POST with 2xx. */
  accepted: number;
}

export interface RecoveryRound {
  ordered: Start;
  killed: Start;
  undisturbedRate: number;
  left: number;
  /** From GET /readyz = 200 until the last of them was done. */
  drainSeconds: number;
  usage: Usage;
}

const KILL_AT = 0.25;
const SETTLE_MS = 2000;
const LOOK_MS = 20;
const LIMIT_MS = 600_000;

/** An ordered restart, an undisturbed action, and one during which everything is killed. */
export async function recoveryRound(setting: RecoverySetting): Promise<RecoveryRound> {
  await setting.stack().stop();
  const ordered = await restart(setting);
  const undisturbedRate = await undisturbed(setting);
  await sleep(SETTLE_MS);
  const before = setting.fleet.executions().executed;
  const group = await install(setting, setting.targets);
  const { open: left } = await withDatabase(setting, (database) =>
    waitFor(
      'the middle of the action',
      async () => {
        const counts = await countsOf(database, group);
        return counts.succeeded >= setting.targets.length * KILL_AT ? counts : null;
      },
      { everyMs: LOOK_MS, limitMs: LIMIT_MS },
    ),
  );
  await setting.stack().kill();
  // Measured from here on: the CPU times of killed processes are lost.
  const everything: Role = { name: 'everything', roots: () => [process.pid] };
  const { result, usage } = await measure([everything], async () => {
    const killed = await restart(setting);
    await drained(setting, group);
    const doneSeconds = (performance.now() - setting.stack().startedAt) / 1000;
    return { killed, drainSeconds: doneSeconds - killed.ready };
  });
  const executed = setting.fleet.executions().executed - before;
  assert.ok(executed >= setting.targets.length, 'the agents executed every operation of the action');
  return { ordered, undisturbedRate, left, ...result, usage };
}

async function restart(setting: RecoverySetting): Promise<Start> {
  await setting.start();
  const seconds = () => (performance.now() - setting.stack().startedAt) / 1000;
  const ready = seconds();
  await install(setting, [setting.spare]);
  return { ready, accepted: seconds() };
}

async function undisturbed(setting: RecoverySetting): Promise<number> {
  await sleep(SETTLE_MS);
  const from = performance.now();
  await drained(setting, await install(setting, setting.targets));
  return (setting.targets.length * 1000) / (performance.now() - from);
}

async function drained(setting: RecoverySetting, group: number): Promise<void> {
  const { succeeded } = await withDatabase(setting, (database) =>
    waitFor(
      `the end of activity ${group}`,
      async () => {
        const counts = await countsOf(database, group);
        return counts.open === 0 ? counts : null;
      },
      { everyMs: LOOK_MS, limitMs: LIMIT_MS },
    ),
  );
  assert.equal(succeeded, setting.targets.length, 'every operation succeeded');
}

async function install({ api }: RecoverySetting, computerIds: readonly number[]): Promise<number> {
  const body = { action: 'install', computer_ids: computerIds, snaps: [{ name: 'hello-world' }] };
  return (await api.call<{ id: number }>('POST', '/snaps', body)).id;
}

/** Uses a separate connection, because the server is killed and restarted. */
async function withDatabase<T>({ url }: RecoverySetting, work: (database: pg.Client) => Promise<T>): Promise<T> {
  const database = new pg.Client({ connectionString: url });
  database.on('error', () => {});
  await database.connect();
  try {
    return await work(database);
  } finally {
    await database.end();
  }
}
