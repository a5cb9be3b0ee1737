import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { RowCase, Stage } from './case.ts';

/** Rows 22 and 23: clocks and slots. */
export const TIME: readonly RowCase[] = [
  ...[3_600_000, -3_600_000].map(
    (offsetMs): RowCase => ({
      row: 22,
      title: `a worker's clock that is off by ${offsetMs / 60_000} minutes over a slot makes one run of it`,
      // For a slow clock the slot is not due yet; the reconciler finds it later.
      longOnly: offsetMs < 0,
      async run(stage) {
        let profiles: number[] = [];
        await stage.sound(async () => {
          profiles = await dueTogether(stage, 1, 5000);
          await stage.world.processes.send('worker', { do: 'clock', offsetMs });
          // The slot passes meanwhile, whether or not the run came before it.
          await sleep(9000);
          await stage.world.processes.send('worker', { do: 'clock', offsetMs: 0 });
          await waitForRuns(stage, profiles);
        });
        expect(await runsOf(stage, profiles)).toEqual([1]);
      },
    }),
  ),
  {
    row: 22,
    title: "the API's clock that jumps back and forth loses no action and lets nobody in or out",
    async run(stage) {
      await stage.sound(async (session) => {
        for (const offsetMs of [3_600_000, -3_600_000, 0]) {
          await stage.world.processes.send('api', { do: 'clock', offsetMs });
          await stage.mustInstall(session);
        }
      });
    },
  },
  {
    row: 23,
    title: 'many profiles due at one moment while the worker stands still run once each',
    longOnly: true,
    async run(stage) {
      let profiles: number[] = [];
      await stage.sound(async () => {
        profiles = await dueTogether(stage, 300, 60_000);
        const workers = stage.world.stack.processes('worker');
        for (const { pid } of workers) process.kill(pid, 'SIGSTOP');
        // Until all are due, and some time longer.
        await sleep(70_000);
        for (const { pid } of workers) process.kill(pid, 'SIGCONT');
        await waitForRuns(stage, profiles);
      });
      expect(new Set(await runsOf(stage, profiles))).toEqual(new Set([1]));
    },
  },
  {
    row: 23,
    title: 'three slots that a worker was away for make one run, not three',
    longOnly: true,
    async run(stage) {
      await stage.sound(async () => {
        const start = new Date(Date.now() - 1000).toISOString();
        const trigger = { trigger_type: 'recurring', start_after: start, interval: '* * * * *' };
        const profile = await createProfile(stage, 'Every minute', trigger);
        await waitForRuns(stage, [profile]);
        await waitForStartOfMinute();
        const [before = 0] = await runsOf(stage, [profile]);
        const workers = stage.world.stack.processes('worker');
        for (const { pid } of workers) process.kill(pid, 'SIGSTOP');
        // Over three slots.
        await sleep(190_000);
        for (const { pid } of workers) process.kill(pid, 'SIGCONT');
        // Long enough for three runs, and not until the next slot.
        await sleep(20_000);
        const [after = 0] = await runsOf(stage, [profile]);
        expect(after - before).toBe(1);
        await stage.world.main.api.request('POST', `/script-profiles/${profile}:archive`);
      });
    },
  },
];

/** Waits until this minute's run exists and the next one is due in well over 210 seconds. */
async function waitForStartOfMinute(): Promise<void> {
  while (new Date().getSeconds() < 5 || new Date().getSeconds() >= 10) await sleep(200);
}

/** Creates profiles that run once, all due in so many milliseconds. */
async function dueTogether(stage: Stage, count: number, inMs: number): Promise<number[]> {
  const timestamp = new Date(Date.now() + inMs).toISOString();
  const profiles: number[] = [];
  for (let i = 0; i < count; i += 1) {
    profiles.push(await createProfile(stage, `Once ${timestamp} ${i}`, { trigger_type: 'one_time', timestamp }));
  }
  return profiles;
}

async function createProfile(stage: Stage, title: string, trigger: object): Promise<number> {
  const { main, fixtures } = stage.world;
  const made = await main.api.post<{ id: number }>('/script-profiles', {
    ...{ title, script_id: fixtures.script, all_computers: false, tags: ['audited'], time_limit: 60, username: 'root' },
    trigger,
  });
  return made.id;
}

async function runsOf(stage: Stage, profiles: readonly number[]): Promise<number[]> {
  const rows = await stage.world.stack.rows<{ n: number }>(
    `select (select count(*)::int from script_profile_run r where r.profile_id = p.id) as n
      from unnest($1::int[]) as p(id)`,
    [profiles],
  );
  return rows.map(({ n }) => n);
}

async function waitForRuns(stage: Stage, profiles: readonly number[]): Promise<void> {
  const haveRun = async (): Promise<boolean> => (await runsOf(stage, profiles)).every((runs) => runs > 0);
  await stage.world.stack.waitUntil('every profile to run', haveRun, { limitMs: 240_000 });
}
