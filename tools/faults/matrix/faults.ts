import { setTimeout as sleep } from 'node:timers/promises';
import type { StackRole } from '../../harness/stack-processes.ts';
import type { Random } from '../../simulator/random.ts';
import type { FaultCommand, Strike } from '../inside/fault-commands.ts';
import { FAIL_POINTS, type FailPoint, processOf } from '../inside/points.ts';
import type { Session } from '../workload/session.ts';
import type { ProxyName } from '../world/proxies.ts';
import type { FaultWorld } from '../world/world.ts';

/** A fault, injected once. `heal` removes what it leaves behind. */
export type Fault = (session: Session, random: Random) => Promise<void>;

const SERVERS: readonly StackRole[] = ['postmaster', 'postgres-backend'];

const killOf =
  (role: StackRole): Fault =>
  ({ world }) =>
    world.kill(role);

const killEverything: Fault = ({ world }) => world.killEverything();

/** Pauses a process, like a blocked event loop or a swapping machine. */
const stopOf =
  (...roles: readonly StackRole[]): Fault =>
  async ({ world }, random) => {
    const pids = world.stack.processes().flatMap(({ pid, role }) => (roles.includes(role) ? [pid] : []));
    for (const pid of pids) signal(pid, 'SIGSTOP');
    await sleep(random.int(500, 4000));
    for (const pid of pids) signal(pid, 'SIGCONT');
  };

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has exited in the meantime.
  }
}

const terminate =
  (role: StackRole): Fault =>
  async ({ world }) => {
    for (const { pid } of world.stack.processes(role)) signal(pid, 'SIGTERM');
    world.died(role);
  };

const blockedLoop: Fault = async ({ world }, random) => {
  const role = random.pick(['api', 'worker'] as const);
  await world.processes.send(role, { do: 'block', ms: random.int(1000, 5000) });
};

const cutOf =
  (names: readonly ProxyName[]): Fault =>
  async ({ world }, random) => {
    const proxy = world.proxies[random.pick(names)];
    await proxy.cut();
    await sleep(random.int(200, 3000));
    await proxy.mend();
  };

/** Drops every connection at once and accepts new ones: pending responses never arrive. */
const dropOf =
  (names: readonly ProxyName[]): Fault =>
  async ({ world }, random) => {
    for (let times = random.int(1, 4); times > 0; times -= 1) {
      world.proxies[random.pick(names)].drop();
      await sleep(random.int(20, 400));
    }
  };

const slowOf =
  (names: readonly ProxyName[]): Fault =>
  async ({ world }, random) => {
    const proxy = world.proxies[random.pick(names)];
    proxy.delay(random.int(50, 400));
    await sleep(random.int(1000, 3000));
    proxy.delay(0);
  };

const frozenOf =
  (names: readonly ProxyName[]): Fault =>
  async ({ world }, random) => {
    const proxy = world.proxies[random.pick(names)];
    proxy.freeze();
    await sleep(random.int(1000, 5000));
    proxy.thaw();
  };

const DATABASE: readonly ProxyName[] = ['api:database', 'worker:database'];
const TEMPORAL: readonly ProxyName[] = ['worker:temporal', 'worker:temporal', 'api:temporal'];
const AGENTS: readonly ProxyName[] = ['agents'];

const READ_ONLY = 'default_transaction_read_only';

/** New transactions are read-only; those in progress continue. */
const readOnly: Fault = async ({ world }, random) => {
  await setServer(world, `alter system set ${READ_ONLY} = on`);
  await sleep(random.int(500, 3000));
  await setServer(world, `alter system reset ${READ_ONLY}`);
};

/** Ignores a server that another fault has just stopped. */
async function setServer(world: FaultWorld, statement: string): Promise<void> {
  const set = async (): Promise<boolean> => {
    await world.stack.administer(statement);
    await world.stack.administer('select pg_reload_conf()');
    return true;
  };
  await world.stack.waitUntil('a setting of the server to change', set);
}

const exhaustedPool: Fault = async ({ world }, random) => {
  const command: FaultCommand = { do: 'exhaust', ms: random.int(500, 6000) };
  await world.processes.send(random.pick(['api', 'worker'] as const), command);
};

/** Another session takes the product's locks in an order that leads to a deadlock or a wait. */
const lostRaces: Fault = async (session, random) => {
  const strikes: Strike[] = ['40P01', '40001', '57014', '53100', '53300'].map((sqlState) => ({ sqlState }));
  for (let count = random.int(1, 3); count > 0; count -= 1) {
    await enable(session.world, random.pick(FAIL_POINTS), random.pick(strikes), random.int(0, 4));
  }
};

const killedBackends: Fault = async ({ world }) => {
  const ended = world.stack.rows(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name like 'flotilla-%' and pid <> pg_backend_pid()`,
  );
  // Without a server there is no backend to end.
  await ended.catch(() => undefined);
};

const failPoint: Fault = async ({ world }, random) => {
  const point = random.pick(FAIL_POINTS);
  const skip = random.pick([0, 0, 1, 3]);
  const strike: Strike = random.chance(0.75)
    ? { kill: true }
    : random.pick([{ blockMs: 3000 }, { dropConnection: true } as const]);
  await enable(world, point, strike, skip);
  if ('kill' in strike) world.died(processOf(point));
};

async function enable(world: FaultWorld, point: FailPoint, strike: Strike, skip: number): Promise<void> {
  await world.processes.send(processOf(point), { do: 'enable', point, strike, skip });
}

const wrongClock: Fault = async ({ world }, random) => {
  const role = random.pick(['api', 'worker'] as const);
  await world.processes.send(role, { do: 'clock', offsetMs: random.pick([3_600_000, -3_600_000, 5000, -5000]) });
  await sleep(random.int(1000, 3000));
  await world.processes.send(role, { do: 'clock', offsetMs: 0 });
};

const nextEvent =
  (name: 'lostResponses' | 'duplicateSends' | 'dieBefore' | 'dieAfter' | 'failing'): Fault =>
  async ({ world, mayRepeat }, random) => {
    const { computers } = world.main;
    for (const id of random.sample(computers.takingSnaps(), random.int(1, 12))) {
      if (name === 'dieAfter') mayRepeat.add(id);
      const agent = computers.byId(id);
      if (agent) agent.options.next[name] = random.int(1, 2);
    }
  };

/** Agents that are offline for a while and remember what they received. */
const absentAgents: Fault = async ({ world }, random) => {
  const { computers } = world.main;
  const removed = random.sample(computers.takingSnaps(), random.int(1, 15)).map((id) => computers.byId(id));
  for (const agent of removed) if (agent) agent.options.offline = true;
  await sleep(random.int(1000, 4000));
  for (const agent of removed) if (agent) agent.options.offline = false;
};

/** Kinds of fault with their rows of the matrix, and their weight in a seed. */
export const FAULTS = {
  killApi: { rows: [1, 2], weight: 4, run: killOf('api') },
  killWorker: { rows: [3, 5, 6], weight: 4, run: killOf('worker') },
  killTemporal: { rows: [8], weight: 3, run: killOf('temporal') },
  killDatabase: { rows: [9], weight: 2, run: killOf('postmaster') },
  killEverything: { rows: [10], weight: 2, run: killEverything },
  failPoint: { rows: [1, 2, 3, 5, 6, 7], weight: 12, run: failPoint },
  stopApi: { rows: [7], weight: 1, run: stopOf('api') },
  stopWorker: { rows: [7], weight: 2, run: stopOf('worker') },
  stopTemporal: { rows: [4, 8], weight: 2, run: stopOf('temporal') },
  stopDatabase: { rows: [9], weight: 1, run: stopOf(...SERVERS) },
  blockedLoop: { rows: [7], weight: 2, run: blockedLoop },
  cutDatabase: { rows: [9, 13], weight: 2, run: cutOf(DATABASE) },
  cutTemporal: { rows: [4], weight: 2, run: cutOf(TEMPORAL) },
  cutAgents: { rows: [14, 15], weight: 1, run: cutOf(AGENTS) },
  dropDatabase: { rows: [13], weight: 2, run: dropOf(DATABASE) },
  dropTemporal: { rows: [4], weight: 1, run: dropOf(TEMPORAL) },
  dropAgents: { rows: [14], weight: 3, run: dropOf(AGENTS) },
  slowDatabase: { rows: [13], weight: 1, run: slowOf(DATABASE) },
  slowTemporal: { rows: [4], weight: 1, run: slowOf(TEMPORAL) },
  frozenDatabase: { rows: [9, 13], weight: 1, run: frozenOf(DATABASE) },
  frozenTemporal: { rows: [4], weight: 1, run: frozenOf(TEMPORAL) },
  frozenAgents: { rows: [15], weight: 1, run: frozenOf(AGENTS) },
  killedBackends: { rows: [13], weight: 2, run: killedBackends },
  readOnly: { rows: [12], weight: 2, run: readOnly },
  exhaustedPool: { rows: [13], weight: 2, run: exhaustedPool },
  lostRaces: { rows: [12, 13], weight: 4, run: lostRaces },
  wrongClock: { rows: [22], weight: 3, run: wrongClock },
  lostResponses: { rows: [14], weight: 2, run: nextEvent('lostResponses') },
  duplicateSends: { rows: [18], weight: 2, run: nextEvent('duplicateSends') },
  dieBefore: { rows: [16], weight: 2, run: nextEvent('dieBefore') },
  dieAfter: { rows: [17], weight: 2, run: nextEvent('dieAfter') },
  failing: { rows: [6], weight: 1, run: nextEvent('failing') },
  absentAgents: { rows: [15], weight: 1, run: absentAgents },
  terminateApi: { rows: [29], weight: 1, run: terminate('api') },
  terminateWorker: { rows: [29], weight: 1, run: terminate('worker') },
} as const satisfies Record<string, { rows: readonly number[]; weight: number; run: Fault }>;

export type FaultName = keyof typeof FAULTS;

/** Removes every fault that may still be active; the supervisor restarts dead processes. */
export async function heal(world: FaultWorld): Promise<void> {
  for (const { pid } of world.stack.processes()) signal(pid, 'SIGCONT');
  for (const proxy of Object.values(world.proxies)) {
    proxy.delay(0);
    proxy.thaw();
  }
  for (const role of ['api', 'worker'] as const) {
    await world.processes.send(role, { do: 'disable' });
    await world.processes.send(role, { do: 'clock', offsetMs: 0 });
  }
  for (const { computers } of world.parties) {
    for (const agent of computers.fleet.computers) {
      agent.options.next = {};
      agent.options.offline = false;
    }
  }
  await world.waitUntilReady();
  await setServer(world, `alter system reset ${READ_ONLY}`);
}
