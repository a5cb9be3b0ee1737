import { setTimeout as sleep } from 'node:timers/promises';
import type { Action } from './action.ts';
import { approve, requestApproval } from './approvals.ts';
import { clone } from './clones.ts';
import type { Session } from './session.ts';

const SNAP_ACTIONS = ['install', 'install', 'refresh', 'hold', 'unhold', 'remove'] as const;
const SNAPS = ['hello', 'htop', 'lxd'] as const;
const AT_ONCE = 10;

const snaps: Action = async (session, random) => {
  const computers = session.someComputers(random);
  const body = { action: random.pick(SNAP_ACTIONS), computer_ids: computers, snaps: [{ name: random.pick(SNAPS) }] };
  await session.act(session.world.main, '/snaps', body, computers);
};

/** Removes what was installed, on each computer as soon as it is there. */
const follow: Action = async (session, random) => {
  const computers = session.someComputers(random);
  const body = { computer_ids: computers, snaps: [{ name: random.pick(SNAPS) }] };
  const after = await session.act(session.world.main, '/snaps', { ...body, action: 'install' }, computers);
  if (after === null) return;
  await session.act(session.world.main, '/snaps', { ...body, action: 'remove', after }, computers);
};

const delayedSnaps: Action = async (session, random) => {
  const computers = session.someComputers(random);
  const later = new Date(Date.now() + random.pick([2000, 3000, 3_600_000])).toISOString().replace(/\.\d+/, '');
  const body = { action: 'install', computer_ids: computers, snaps: [{ name: 'hello' }], deliver_after: later };
  await session.act(session.world.main, '/snaps', body, computers);
};

const script: Action = async (session, random) => {
  const { main, fixtures } = session.world;
  const computers = random.sample(main.computers.takingSnaps(), random.int(1, 12));
  const query = computers.map((id) => `id:${id}`).join(' OR ');
  await session.act(main, `/scripts/${fixtures.script}:execute`, { query, username: 'root' }, computers);
};

interface Kernels {
  upgrades: { id: number }[];
  downgrades: { id: number }[];
}

const kernel: Action = async (session, random) => {
  const { main } = session.world;
  const computer = random.pick(main.computers.takingSnaps());
  const listing = (await session.request<Kernels>(main, 'GET', `/computers/${computer}/hotpatch/kernel`))?.body;
  const [way, choice] =
    (listing?.upgrades.length ?? 0) > 0 ? ['upgrade', listing!.upgrades[0]!] : ['downgrade', listing?.downgrades[0]];
  if (!choice) return;
  const body = { kernel_package_id: choice.id, reboot_after: random.chance(0.7) };
  await session.act(main, `/computers/${computer}/kernel/${way}`, body, null);
};

const restart: Action = async (session, random) => {
  const { main } = session.world;
  const computer = random.pick(main.computers.takingSnaps());
  await session.act(main, `/computers/${computer}/restart`, {}, [computer]);
};

const compliance: Action = async (session, random) => {
  const { main, fixtures } = session.world;
  const profile = random.pick([fixtures.auditProfile, fixtures.fixProfile]);
  // Rejected while all its computers are busy with another run.
  await session.act(main, `/usg-profiles/${profile}:execute`, {}, null);
};

const recoveryKey: Action = async (session, random) => {
  const { main } = session.world;
  const able = main.computers.fleet.computers.filter(({ machine }) => machine.blueprint.encryption === 'tpm');
  const computer = random.pick(able)?.computerId;
  if (computer) await session.act(main, `/computers/${computer}/recovery-key:generate?force=true`, {}, null);
};

const cancelGroup: Action = async (session, random) => {
  const { main } = session.world;
  const ids = random.sample(session.groups, random.int(1, 3));
  await cancel(session, ids.length > 0 ? ids : [1], main.id);
};

const cancelRows: Action = async (session, random) => {
  const group = random.pick([...session.groups, 0]);
  if (group === 0) return;
  const activity = await session.request<{ children: { id: number }[] }>(
    session.world.main,
    'GET',
    `/activities/${group}`,
  );
  const children = activity?.body.children.map(({ id }) => id) ?? [];
  const ids = random.sample(children, random.int(1, 5));
  if (ids.length > 0) await cancel(session, ids, session.world.main.id);
};

async function cancel(session: Session, ids: readonly number[], account: number): Promise<void> {
  for (const id of ids) session.cancelTried.add(id);
  const done = await session.request(session.world.main, 'POST', '/activities/cancel', { activity_ids: ids });
  if (done !== null) session.acknowledged.push({ what: 'cancel', account, ids });
}

/** Repeats or reverts a finished or running group; rejected when that is impossible. */
const again: Action = async (session, random) => {
  const group = random.pick([...session.groups, 0]);
  if (group === 0) return;
  await repeat(session, random.pick(['reapply', 'revert']), group);
};

const stampede: Action = async (session, random) => {
  const group = random.pick([...session.groups, 0]);
  if (group === 0) return;
  const way = random.pick(['reapply', 'revert']);
  await Promise.all(Array.from({ length: AT_ONCE }, () => repeat(session, way, group)));
};

async function repeat(session: Session, way: string, group: number): Promise<void> {
  const { main } = session.world;
  const made = await session.request<number[]>(main, 'POST', `/activities/${way}`, { activity_ids: [group] });
  for (const id of made?.body ?? []) session.accepted(main, id, null);
}

const tag: Action = async (session, random) => {
  const computers = session.someComputers(random);
  const name = `seed-${session.seed}-${random.hex(6)}`;
  const query = computers.map((id) => `id:${id}`).join(' OR ');
  const body = { query, tags: [name] };
  const done = await session.request(session.world.main, 'POST', '/computers:add-tags', body);
  if (done !== null) session.acknowledged.push({ what: 'tag', tag: name, computers });
};

const neighbour: Action = async (session, random) => {
  const party = session.world.neighbour;
  const all = party.computers.takingSnaps();
  const computers = random.sample(all, random.int(1, all.length));
  const body = { action: 'install', computer_ids: computers, snaps: [{ name: random.pick(SNAPS) }] };
  await session.act(party, '/snaps', body, computers);
};

const intruder: Action = async (session, random) => {
  const { main, neighbour: other } = session.world;
  const computer = random.pick(main.computers.takingSnaps());
  const mixed = [computer, ...other.computers.takingSnaps().slice(0, 1)];
  const groups = random.sample(session.groups, 1);
  const tries: [string, unknown][] = [
    ['/snaps', { action: 'install', computer_ids: mixed, snaps: [{ name: 'hello' }] }],
    [`/computers/${computer}/restart`, {}],
    ...groups.flatMap((group): [string, unknown][] => [
      ['/activities/cancel', { activity_ids: [group] }],
      ['/activities/reapply', { activity_ids: [group] }],
    ]),
  ];
  const [path, body] = random.pick(tries);
  const done = await session.request(other, 'POST', path, body);
  if (done !== null) session.intrusions.push(`${other.name} was let do POST ${path} on ${main.name}'s objects`);
};

/** New computers enrol; a profile runs its script on each. */
const enrol: Action = async (session, random) => {
  const { world, seed, newcomers } = session;
  const name = `new-${seed}-${newcomers.length}-${random.hex(4)}`;
  const computers = world.newcomers(name, seed * 100 + newcomers.length + 1000, random.int(1, 3));
  newcomers.push(computers);
  // Waits until the gateway is available.
  void computers.fleet.start();
  await sleep(random.int(0, 500));
};

const remove: Action = async (session, random) => {
  const { world, newcomers, removed } = session;
  const computer = random.pick(newcomers.flatMap((computers) => computers.ids()));
  if (!computer) return;
  removed.add(computer);
  const done = await session.request(world.main, 'POST', '/computers:delete', { computer_ids: [computer] });
  if (done !== null) session.acknowledged.push({ what: 'removed', computer });
};

/** The actions a seed draws from, with their weights. */
export const ACTIONS = {
  snaps: { weight: 8, run: snaps },
  delayedSnaps: { weight: 2, run: delayedSnaps },
  script: { weight: 3, run: script },
  kernel: { weight: 3, run: kernel },
  restart: { weight: 1, run: restart },
  compliance: { weight: 2, run: compliance },
  recoveryKey: { weight: 1, run: recoveryKey },
  cancelGroup: { weight: 2, run: cancelGroup },
  cancelRows: { weight: 2, run: cancelRows },
  again: { weight: 2, run: again },
  stampede: { weight: 1, run: stampede },
  tag: { weight: 2, run: tag },
  neighbour: { weight: 2, run: neighbour },
  intruder: { weight: 1, run: intruder },
  enrol: { weight: 1, run: enrol },
  remove: { weight: 1, run: remove },
} as const satisfies Record<string, { weight: number; run: Action }>;

/** Added later and drawn separately, so that older draws of a seed do not change. */
export const FURTHER_ACTIONS = {
  clone: { weight: 1, run: clone },
  requestApproval: { weight: 2, run: requestApproval },
  approve: { weight: 3, run: approve },
} as const satisfies Record<string, { weight: number; run: Action }>;

/** Added after those, and drawn separately for the same reason. */
export const LATER_ACTIONS = {
  follow: { weight: 1, run: follow },
} as const satisfies Record<string, { weight: number; run: Action }>;

export type ActionName = keyof typeof ACTIONS | keyof typeof FURTHER_ACTIONS | keyof typeof LATER_ACTIONS;

export function actionOf(name: ActionName): Action {
  return { ...ACTIONS, ...FURTHER_ACTIONS, ...LATER_ACTIONS }[name].run;
}
