import type { Action } from './action.ts';

/** An administrator whose actions need another person's approval. */
export const requestApproval: Action = async (session, random) => {
  const computers = session.someComputers(random);
  const body = { action: 'install', computer_ids: computers, snaps: [{ name: 'hello' }] };
  const group = await session.act(session.world.trainee, '/snaps', body, computers);
  if (group !== null) session.unapproved.push(group);
};

/** Approves a group or some of its operations; rejected where another approval came first. */
export const approve: Action = async (session, random) => {
  const { main } = session.world;
  const group = random.pick([...session.unapproved, 0]);
  if (group === 0) return requestApproval(session, random);
  const ids = random.chance(0.5) ? [group] : random.sample(await childrenOf(session, group), random.int(1, 12));
  if (ids.length === 0) return;
  const done = await session.request(main, 'POST', '/activities/approve', { activity_ids: ids });
  if (done !== null) session.acknowledged.push({ what: 'approval', account: main.id, ids });
};

async function childrenOf(session: Parameters<Action>[0], group: number): Promise<number[]> {
  const response = await session.request<{ children: { id: number }[] }>(
    session.world.main,
    'GET',
    `/activities/${group}`,
  );
  return response?.body.children.map(({ id }) => id) ?? [];
}
