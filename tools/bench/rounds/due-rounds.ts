import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Latency, latency } from '../harness/statistics.ts';
import { cpuMsOf, measure } from '../harness/usage.ts';
import { waitFor } from '../harness/wait.ts';
import { PRODUCT_ROLES } from '../product/roles.ts';
import { createProfile, type UsgSetting, type Watched, watched } from './usg-setting.ts';

const LIMIT_MS = 900_000;
const PARALLEL = 8;
const TRIED_PROFILES = 40;
/** Schedules must exist in time: factors for the duration measured in the previous round, or guessed. */
const MARGIN = { measured: 1.25, guessed: 2 };
const AHEAD_MS = 15_000;
const LOOK_MS = 2000;
const AT_REST = 0.3;
const EARLY_MS = 1500;

export interface DueRound extends Watched {
  profiles: number;
  /** Delay of each run after its date, in seconds. */
  lateness: Latency;
  firstSeconds: number;
}

/**
 * Creates a round: many profiles due at one moment, without computers, to measure when each runs, and that it runs
 * once. Each round creates new profiles; those of earlier rounds are due again a month later.
 */
export function dueRounds(setting: UsgSetting, profiles: number): () => Promise<DueRound> {
  let round = 0;
  let makingMs: number | null = null;
  return async () => {
    round += 1;
    await atRest(setting);
    const reserveMs = makingMs ? MARGIN.measured * makingMs : MARGIN.guessed * (await tryCreating(setting, profiles));
    const from = Date.now();
    const due = new Date(Math.ceil((from + reserveMs + AHEAD_MS) / 1000) * 1000);
    const over = { all_computers: false, start_date: due.toISOString() };
    await inParallel(profiles, (n) => createProfile(setting.api, `Due ${round}.${n}`, over));
    await waitFor('the schedules on the server', () => areSynced(setting), { everyMs: 200, limitMs: LIMIT_MS });
    makingMs = Date.now() - from;
    assert.ok(Date.now() < due.getTime() - EARLY_MS, 'the schedules were there before they were due');
    await sleep(due.getTime() - EARLY_MS - Date.now());
    const { probed, writes, usage } = await watched(setting, () => awaitRuns(setting, due, profiles));
    const late = await lateness(setting, due);
    assert.equal(late.length, profiles, 'no profile runs twice');
    return { profiles, lateness: latency(late), firstSeconds: Math.min(...late), probed, writes, usage };
  };
}

/** Waits for the workflows of the runs, which continue after the last run was created. */
async function atRest({ roles }: UsgSetting): Promise<void> {
  const look = async () => {
    const { usage } = await measure(roles, () => sleep(LOOK_MS));
    return cpuMsOf(usage, PRODUCT_ROLES) < AT_REST * usage.wallMs ? true : null;
  };
  await waitFor('the end of what the round before has started', look, { everyMs: 0, limitMs: LIMIT_MS });
}

/** @returns how many milliseconds the creation of so many profiles will take */
async function tryCreating({ api }: UsgSetting, profiles: number): Promise<number> {
  const from = performance.now();
  await inParallel(TRIED_PROFILES, (n) =>
    createProfile(api, `Tried ${n}`, { all_computers: false, start_date: '2090-01-01T00:00:00Z' }),
  );
  return ((performance.now() - from) / TRIED_PROFILES) * profiles;
}

async function inParallel(count: number, each: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < count) await each(next++);
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}

async function areSynced({ database }: UsgSetting): Promise<true | null> {
  const { rows } = await database.query("select 1 from outbox where kind = 'schedule_sync' limit 1");
  return rows.length === 0 ? true : null;
}

async function awaitRuns({ database }: UsgSetting, due: Date, profiles: number): Promise<void> {
  const all = async () => {
    const { rows } = await database.query<{ profiles: number }>(
      'select count(distinct profile_id)::int as profiles from usg_run where nominal_time = $1',
      [due],
    );
    return rows[0]!.profiles === profiles ? true : null;
  };
  await waitFor('a run of each profile', all, { everyMs: 500, limitMs: LIMIT_MS });
}

async function lateness({ database }: UsgSetting, due: Date): Promise<number[]> {
  const { rows } = await database.query<{ late: number }>(
    'select extract(epoch from started_at - $1)::float8 as late from usg_run where nominal_time = $1',
    [due],
  );
  return rows.map(({ late }) => late);
}
