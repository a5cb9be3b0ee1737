import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { RowCase, Stage } from './case.ts';

/** Rows 12, 13, 21: a database with rejected statements, a full disk or lock conflicts. */
export const DATABASE: readonly RowCase[] = [
  {
    row: 12,
    title: 'a read-only database means 503 with nothing stored, and work goes on when it takes writes again',
    async run(stage) {
      await stage.sound(async (session) => {
        const group = await stage.mustInstall(session);
        const before = await stage.lastActivity();
        await stage.world.stack.administer('alter system set default_transaction_read_only = on');
        await stage.world.stack.administer('select pg_reload_conf()');
        const isReadOnly = async (): Promise<boolean> => {
          const [row] = await stage.world.stack.rows<{ is: string }>(
            `select current_setting('default_transaction_read_only') as is`,
          );
          return row!.is === 'on';
        };
        await stage.world.stack.waitUntil('the setting to apply', isReadOnly);
        expect(await stage.install(session)).toBeNull();
        expect(session.responses.get(503)).toBe(1);
        expect(await stage.groupsAfter(before)).toEqual([]);
        const read = await session.request<{ id: number }>(stage.world.main, 'GET', `/activities/${group}`);
        expect(read?.status).toBe(200);
      });
    },
  },
  {
    row: 12,
    title: 'a full disk at the accepting and at the storing commits leaves no part of any',
    run: (stage) => failsAt(stage, '53100', [503]),
  },
  {
    row: 13,
    title: 'a deadlock or serialization failure of the accepting transaction is tried again, and none is half done',
    async run(stage) {
      await failsAt(stage, '40P01', [200]);
      await failsAt(stage, '40001', [200]);
    },
  },
  {
    row: 13,
    title: 'a transaction that always loses ends in 503 after so many tries',
    async run(stage) {
      const before = await stage.lastActivity();
      // Groups of a few computers are accepted by another statement.
      for (const computers of [stage.all, stage.all.slice(0, 1)]) {
        await stage.sound(async (session) => {
          for (let times = 20; times > 0; times -= 1) await stage.enable('before-accept-commit', { sqlState: '40001' });
          expect(await stage.install(session, computers)).toBeNull();
          expect([...session.responses]).toEqual([[503, 1]]);
        });
      }
      expect(await stage.groupsAfter(before)).toEqual([]);
    },
  },
  {
    row: 13,
    title: 'an exhausted pool means 503 or a wait, and every connection comes back',
    longOnly: true,
    async run(stage) {
      await stage.sound(async (session) => {
        await stage.world.processes.send('api', { do: 'exhaust', ms: 7000 });
        const computers = stage.all.slice(0, 3);
        await Promise.all(Array.from({ length: 12 }, () => stage.install(session, computers)));
        expect([...session.responses.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([]);
        // The last connection is held for its whole time.
        await sleep(2500);
        for (let times = 40; times > 0; times -= 1) await stage.enable('before-accept-commit', { sqlState: '57014' });
        const lost = await Promise.all(Array.from({ length: 30 }, () => stage.install(session, computers)));
        expect(lost.every((group) => group === null)).toBe(true);
        await stage.world.processes.send('api', { do: 'disable' });
        const got = await Promise.all(Array.from({ length: 12 }, () => stage.install(session, computers)));
        expect(got).not.toContain(null);
      });
    },
  },
  {
    row: 21,
    title: 'a reapply sent many times at once makes one group for each 2xx, and a conflict otherwise',
    async run(stage) {
      const { session: first } = await stage.sound(async (session) => {
        await stage.mustInstall(session, stage.all.slice(0, 2));
      });
      const before = await stage.lastActivity();
      const { session } = await stage.sound(async (current) => {
        const body = { activity_ids: [first.groups[0]] };
        const times = stage.isLong ? 100 : 12;
        const responses = await Promise.all(
          Array.from({ length: times }, () =>
            current.request<number[]>(stage.world.main, 'POST', '/activities/reapply', body),
          ),
        );
        for (const response of responses)
          for (const id of response?.body ?? []) current.accepted(stage.world.main, id, null);
      });
      expect((await stage.groupsAfter(before)).toSorted()).toEqual(session.groups.toSorted());
      expect([...session.responses.keys()].filter((status) => ![200, 400, 409].includes(status))).toEqual([]);
    },
  },
];

/** Rejects each commit of an action once; a client gets an allowed status, and everything accepted runs. */
async function failsAt(stage: Stage, sqlState: string, allowed: readonly number[]): Promise<void> {
  const before = await stage.lastActivity();
  const { session } = await stage.sound(async (current) => {
    await stage.enable('before-accept-commit', { sqlState });
    await stage.install(current);
    expect([...current.responses.keys()]).toEqual(allowed);
    const strikes = stage.strikes('before-events-commit');
    await stage.enable('before-events-commit', { sqlState });
    const group = await stage.mustInstall(current);
    await stage.waitUntilStruck('before-events-commit', strikes);
    await stage.waitUntilDelivered(group);
    const stores = stage.strikes('before-exchange-store');
    await stage.enable('before-exchange-store', { sqlState });
    await stage.waitUntilStruck('before-exchange-store', stores);
  });
  expect(await stage.groupsAfter(before)).toEqual(session.groups.toSorted((a, b) => a - b));
  for (const group of session.groups) expect(await stage.statuses(group)).toEqual({ succeeded: stage.all.length });
}
