import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { neverHandedOut } from '../../harness/stack-invariants.ts';
import { createRandom } from '../../simulator/random.ts';
import type { RowCase, Stage } from './case.ts';

/** Rows 14 to 18 and 20: agents that lose responses, die, send twice, or get a late cancel. */
export const AGENTS: readonly RowCase[] = [
  {
    row: 14,
    title: 'a result whose response is lost is sent again and recorded once',
    async run(stage) {
      const { session } = await stage.sound(async (current) => {
        const group = await stage.mustInstall(current);
        await stage.waitUntilDelivered(group);
        const before = stage.strikes('after-exchange-store');
        await stage.enable('after-exchange-store', { kill: true });
        await stage.waitUntilStruck('after-exchange-store', before);
        for (const id of stage.all) stage.world.main.computers.byId(id)!.options.next.lostResponses = 1;
        // Agents connect again in between.
        for (let times = 5; times > 0; times -= 1) {
          stage.world.proxies.agents.drop();
          await sleep(100);
        }
      });
      expect(await stage.statuses(session.groups[0]!)).toEqual({ succeeded: stage.all.length });
    },
  },
  {
    row: 15,
    title: 'a result that comes after the cancel of what was delivered wins, once',
    async run(stage) {
      const { session, facts } = await stage.sound(async (current) => {
        const group = await stage.mustInstall(current);
        const succeededNow = async (): Promise<number> => (await stage.statuses(group))['succeeded'] ?? 0;
        await stage.waitUntilDelivered(group, 5);
        stage.world.proxies.agents.freeze();
        const { body } = await stage.world.main.api.request<number[]>('POST', '/activities/cancel', {
          activity_ids: [group],
        });
        expect(body).toEqual([group]);
        const hasEnded = async (): Promise<boolean> => {
          const { succeeded = 0, canceled = 0 } = await stage.statuses(group);
          return succeeded + canceled === stage.all.length;
        };
        await stage.world.stack.waitUntil('rows to be canceled', hasEnded);
        // Longer than agents and server wait for each other.
        if (stage.isLong) await sleep(50_000);
        const before = await succeededNow();
        stage.world.proxies.agents.thaw();
        await stage.world.stack.waitUntil('a late result', async () => (await succeededNow()) > before);
      });
      const { succeeded = 0, canceled = 0, ...others } = await stage.statuses(session.groups[0]!);
      expect(others).toEqual({});
      expect(succeeded + canceled).toBe(stage.all.length);
      const late = facts.transitions.filter(
        ({ activity, from, to }) => activity !== session.groups[0] && from === 'canceled' && to === 'succeeded',
      );
      expect(late.length).toBeGreaterThan(0);
    },
  },
  {
    row: 16,
    title: 'agents that die before they act are handed the operation again and carry it out once',
    async run(stage) {
      const { session } = await stage.sound(async (current) => {
        for (const id of stage.all) stage.world.main.computers.byId(id)!.options.next.dieBefore = 2;
        const group = await stage.mustInstall(current);
        await stage.world.main.api.pollActivity(group, 120_000);
      });
      expect(await stage.statuses(session.groups[0]!)).toEqual({ succeeded: stage.all.length });
    },
  },
  {
    row: 17,
    title: 'agents that die after acting may act again, and one outcome is recorded',
    async run(stage) {
      const { session, facts } = await stage.sound(async (current) => {
        for (const id of stage.all) {
          current.mayRepeat.add(id);
          stage.world.main.computers.byId(id)!.options.next.dieAfter = 1;
        }
        const group = await stage.mustInstall(current);
        await stage.world.main.api.pollActivity(group, 120_000);
      });
      expect(await stage.statuses(session.groups[0]!)).toEqual({ succeeded: stage.all.length });
      const own = facts.activities
        .filter(({ computer }) => computer !== null)
        .map(({ id }) => facts.executions.get(id));
      expect(own.filter((runs) => (runs?.length ?? 0) > 1).length).toBeGreaterThan(0);
    },
  },
  {
    row: 18,
    title: 'polls sent twice at once by one computer deliver and ingest everything once',
    async run(stage) {
      const { session } = await stage.sound(async (current) => {
        for (const id of stage.all) stage.world.main.computers.byId(id)!.options.next.duplicateSends = 3;
        await stage.mustInstall(current);
        await stage.mustInstall(current);
        await stage.world.main.api.pollActivity(current.groups[1]!, 120_000);
      });
      for (const group of session.groups) {
        expect(await stage.statuses(group)).toEqual({ succeeded: stage.all.length });
      }
    },
  },
  {
    row: 18,
    title: 'a copy of a computer is recognized and enrols as a computer of its own, flagged as a clone',
    async run(stage) {
      const { session } = await stage.sound(async (current) => {
        const original = stage.world.newcomers('twin', 78, 1);
        current.newcomers.push(original);
        await original.fleet.start();
        await original.fleet.settled(180_000);
        const [id] = original.ids();
        current.cloned.add(id!);
        const copy = original.copy('twin-copy');
        current.newcomers.push(copy);
        await copy.fleet.start();
        await stage.mustInstall(current, [id!]);
        const areTwo = (): boolean => {
          for (const { fleet } of [original, copy]) for (const computer of fleet.computers) computer.exchangeSoon();
          return new Set([...original.ids(), ...copy.ids()]).size === 2;
        };
        await stage.world.stack.waitUntil('the two to be distinguished', areTwo, { limitMs: 120_000, everyMs: 500 });
      });
      const ids = session.newcomers.flatMap((computers) => computers.ids()).toSorted((a, b) => a - b);
      const rows = await stage.world.stack.rows<{ clone_id: number | null }>(
        'select clone_id from computer where id = any($1) order by id',
        [ids],
      );
      expect(rows.map(({ clone_id }) => clone_id)).toEqual([null, ids[0]]);
    },
  },
  {
    row: 20,
    title: 'a cancel that races delivery and result ends every operation once, and what it took back never runs',
    async run(stage) {
      const random = createRandom(20, 'races');
      const unsent: number[] = [];
      const { facts } = await stage.sound(async (session) => {
        // Before any computer polls for work.
        unsent.push(...(await race(stage, session, 0)));
        for (let times = stage.isLong ? 20 : 4; times > 0; times -= 1) {
          unsent.push(...(await race(stage, session, random.int(0, 1500))));
        }
      });
      expect(unsent.length).toBeGreaterThan(0);
      expect(unsent.filter((id) => facts.executions.has(id))).toEqual([]);
    },
  },
  {
    row: 20,
    title: 'the removal of a computer that races its deliveries ends its operations',
    async run(stage) {
      await stage.sound(async (session) => {
        const { world } = stage;
        const guests = world.newcomers('leaving', 77, 4);
        session.newcomers.push(guests);
        await guests.fleet.start();
        await guests.fleet.settled(180_000);
        const ids = guests.takingSnaps();
        await stage.mustInstall(session, [...ids, ...stage.all.slice(0, 5)]);
        for (const id of ids) {
          session.removed.add(id);
          // Deliveries go on meanwhile.
          await sleep(150);
          const done = await session.request(world.main, 'POST', '/computers:delete', { computer_ids: [id] });
          expect(done?.status).toBe(204);
          session.acknowledged.push({ what: 'removed', computer: id });
        }
      });
    },
  },
];

/** @returns operations that no agent had received when the cancel got its response */
async function race(stage: Stage, session: Parameters<Stage['install']>[0], afterMs: number): Promise<number[]> {
  const group = await stage.mustInstall(session);
  // At a random moment.
  await sleep(afterMs);
  const done = await session.request(stage.world.main, 'POST', '/activities/cancel', { activity_ids: [group] });
  const unsent = done ? await neverHandedOut(stage.world.stack, group) : [];
  // It may have ended by then.
  expect(done?.status ?? 400).toBeOneOf([200, 400]);
  const ids = (await stage.world.main.api.activity(group)).children.map(({ id }) => id);
  if (done) session.acknowledged.push({ what: 'cancel', account: stage.world.main.id, ids });
  return unsent;
}
