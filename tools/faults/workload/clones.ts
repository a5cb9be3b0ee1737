import { setTimeout as sleep } from 'node:timers/promises';
import type { Action } from './action.ts';

const SETTLED_MS = 20_000;

/**
 * A new computer's disk is copied and both go on with one identity, while work is ordered for it. Which of the two is
 * handed an operation is chance; the other is told apart and enrols as a computer of its own.
 */
export const clone: Action = async (session, random) => {
  const { world, seed, newcomers, cloned } = session;
  const name = `twin-${seed}-${newcomers.length}-${random.hex(4)}`;
  const original = world.newcomers(name, seed * 100 + newcomers.length + 1000, 1);
  newcomers.push(original);
  await original.fleet.start();
  // It may not get through before the faults are over: then the copy is one that never had an identity.
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
