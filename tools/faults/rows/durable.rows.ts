import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { openWorkflows } from '../../harness/stack-invariants.ts';
import { FAIL_POINTS, processOf } from '../inside/points.ts';
import type { RowCase, Stage } from './case.ts';

/** Rows 1 to 10: processes and servers that die between two durable steps. */
export const DURABLE: readonly RowCase[] = [
  {
    row: 1,
    title: 'an API killed before its commit leaves nothing, and the next try makes one group',
    async run(stage) {
      await stage.sound(async (session) => {
        const before = await stage.lastActivity();
        await stage.enable('before-accept-commit', { kill: true });
        expect(await stage.install(session)).toBeNull();
        expect(await stage.groupsAfter(before)).toEqual([]);
        await stage.world.waitUntilReady();
        const group = await stage.mustInstall(session);
        expect(await stage.groupsAfter(before)).toEqual([group]);
      });
    },
  },
  {
    row: 2,
    title: 'an API killed between commit and response leaves one whole group that runs',
    async run(stage) {
      const before = await stage.lastActivity();
      await stage.sound(async (session) => {
        await stage.enable('after-accept-commit', { kill: true });
        expect(await stage.install(session)).toBeNull();
      });
      const groups = await stage.groupsAfter(before);
      expect(groups).toHaveLength(1);
      expect(await stage.statuses(groups[0]!)).toEqual({ succeeded: stage.all.length });
    },
  },
  {
    row: 3,
    title: 'a dispatcher killed after the start, before the outbox is cleared, makes no second run',
    async run(stage) {
      const { session } = await stage.sound(async (current) => {
        const before = stage.strikes('after-start');
        await stage.enable('after-start', { kill: true });
        await stage.mustInstall(current);
        await stage.waitUntilStruck('after-start', before);
      });
      expect(await runsOf(stage, `activity/${session.groups[0]}`)).toBe(1);
    },
  },
  {
    row: 3,
    title: 'a dispatcher killed with claimed commands, before it starts anything, makes one run',
    run: (stage) => killAt(stage, 'before-start'),
  },
  {
    row: 4,
    title: 'an action is accepted while Temporal is unavailable and runs after its return',
    async run(stage) {
      const proxies = [stage.world.proxies['api:temporal'], stage.world.proxies['worker:temporal']];
      await stage.sound(async (session) => {
        for (const proxy of proxies) await proxy.cut();
        const group = await stage.mustInstall(session);
        // An outage lasts.
        await sleep(stage.isLong ? 120_000 : 2000);
        expect(await stage.statuses(group)).toEqual({ undelivered: stage.all.length });
        for (const proxy of proxies) await proxy.mend();
        await stage.waitUntilUnderWay([group]);
      });
    },
  },
  {
    row: 5,
    title: 'a worker killed while it queues messages repeats that part, with none missing and none doubled',
    run: (stage) => killAt(stage, 'inside-open'),
  },
  {
    row: 6,
    title: 'a worker killed at a boundary of a step comes to the same rows',
    longOnly: true,
    run: (stage) => killAt(stage, 'after-events-commit'),
  },
  {
    row: 6,
    title: 'every fail point strikes where it should, and a kill there changes no outcome',
    longOnly: true,
    async run(stage) {
      for (const point of FAIL_POINTS.filter((name) => processOf(name) === 'worker')) await killAt(stage, point);
    },
  },
  {
    row: 7,
    title: 'a worker whose event loop is blocked beyond the time of a task makes nothing run twice',
    longOnly: true,
    async run(stage) {
      await stage.sound(async (session) => {
        const group = await stage.mustInstall(session);
        await stage.waitUntilDelivered(group);
        await stage.world.processes.send('worker', { do: 'block', ms: 60_000 });
        await stage.install(session);
      });
    },
  },
  {
    row: 8,
    title: 'signals and timers go on after a kill of Temporal',
    async run(stage) {
      await stage.sound(async (session) => {
        for (let times = stage.isLong ? 4 : 1; times > 0; times -= 1) {
          const group = await stage.mustInstall(session);
          const later = new Date(Date.now() + 3000).toISOString().replace(/\.\d+/, '');
          const body = { action: 'refresh', computer_ids: stage.all, snaps: [{ name: 'hello' }], deliver_after: later };
          await session.act(stage.world.main, '/snaps', body, stage.all);
          if (times % 2 === 1) await stage.waitUntilDelivered(group);
          await stage.world.kill('temporal');
        }
        const isBack = (): Promise<boolean> => openWorkflows(stage.world.stack).then(() => true);
        await stage.world.stack.waitUntil('Temporal to be back', isBack, { limitMs: 120_000 });
        await stage.waitUntilUnderWay(session.groups);
      });
    },
  },
  {
    row: 9,
    title: 'a commit that PostgreSQL dies under ends in 503 or is there, and pools connect again',
    async run(stage) {
      await stage.sound(async (session) => {
        const before = stage.strikes('before-accept-commit');
        await stage.enable('before-accept-commit', { blockMs: 1500 });
        const requested = stage.install(session);
        await stage.waitUntilStruck('before-accept-commit', before);
        await stage.world.kill('postmaster');
        await requested;
        await stage.world.waitUntilReady();
        await stage.mustInstall(session);
        const rejections = [...session.responses.keys()].filter((status) => status !== 200 && status !== 503);
        expect(rejections).toEqual([]);
      });
    },
  },
  {
    row: 10,
    title: 'everything killed at once in the middle goes on after a start without help',
    async run(stage) {
      await stage.sound(async (session) => {
        const group = await stage.mustInstall(session);
        await stage.waitUntilDelivered(group, 3);
        await stage.world.killEverything();
      });
    },
  },
];

/** Kills the worker at a point during an action on all computers; all must succeed. */
async function killAt(stage: Stage, point: (typeof FAIL_POINTS)[number]): Promise<void> {
  const { session } = await stage.sound(async (current) => {
    const before = stage.strikes(point);
    await stage.enable(point, { kill: true });
    await stage.mustInstall(current);
    await stage.waitUntilStruck(point, before);
  });
  expect(await stage.statuses(session.groups[0]!)).toEqual({ succeeded: stage.all.length });
}

async function runsOf(stage: Stage, workflowId: string): Promise<number> {
  const client = await stage.world.stack.temporal();
  return (await client.workflow.count(`WorkflowId = '${workflowId}'`)).count;
}
