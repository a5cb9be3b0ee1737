import { setTimeout as sleep } from 'node:timers/promises';
import type { Action } from './action.ts';

const SETTLED_MS = 20_000;

/**
 * Copies a new computer's disk; both continue with one identity while operations are requested. Either of them may
 * receive an operation; the other is detected as a copy and enrols as a new computer.
 */
export const clone: Action = async (session, random) => {
  const { world, seed, newcomers, cloned } = session;
  const name = `twin-${seed}-${newcomers.length}-${random.hex(4)}`;
  const original = world.newcomers(name, seed * 100 + newcomers.length + 1000, 1);
  newcomers.push(original);
  await original.fleet.start();
  // It may not succeed before the faults are over: then the copy never had an identity.
  await original.fleet.settled(SETTLED_MS).catch(() => undefined);
  if (random.chance(0.5)) await install(session, original.ids());
  await sleep(random.int(0, 400));
  for (const id of original.ids()) cloned.add(id);
  const copy = original.copy(`${name}-copy`);
  newcomers.push(copy);
  void copy.fleet.start();
  if (random.chance(0.7)) await install(session, original.ids());
  await sleep(random.int(0, 400));
  for (const { fleet } of [copy, original]) for (const computer of fleet.computers) computer.exchangeSoon();
};

async function install(session: Parameters<Action>[0], computers: readonly number[]): Promise<void> {
  const body = { action: 'install', computer_ids: computers, snaps: [{ name: 'hello' }] };
  if (computers.length > 0) await session.act(session.world.main, '/snaps', body, computers);
}
