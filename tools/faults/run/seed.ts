import { setTimeout as sleep } from 'node:timers/promises';
import type { Executions } from '../../harness/delivery-order.ts';
import { readDeliveries } from '../../harness/delivery-order.ts';
import { type Invariant, violationsIn } from '../invariants/checks.ts';
import { readComputers, readPending, readRows, readWatermark, type Watermark } from '../invariants/collect.ts';
import type { Facts } from '../invariants/facts.ts';
import { findSecrets } from '../invariants/secrets.ts';
import { FAULTS, type FaultName, heal } from '../matrix/faults.ts';
import { type ActionName, actionOf } from '../workload/actions.ts';
import { Session } from '../workload/session.ts';
import type { FaultWorld } from '../world/world.ts';
import { nameOf, type Plan, streamOf } from './plan.ts';

/** Result of one seed. */
export interface Outcome {
  seed: number;
  steps: string[];
  faults: FaultName[];
  acts: ActionName[];
  violations: { invariant: Invariant | 'responses' | 'driver'; text: string }[];
  /** Operations of the seed, and how many times agents ran one. */
  operations: number;
  executions: number;
  /** Number of responses by status; 0 is a broken connection. */
  responses: Record<number, number>;
  struck: string[];
  ms: number;
  /** Time from the end of all faults to idle, and the work still open after a minute. */
  restMs: number;
  late: string[];
}

/** After this long without change, open work counts as stuck. The reconciler runs every minute. */
const STANDSTILL_MS = 150_000;
const LATE_MS = 60_000;
const LOOK_MS = 400;

/** Runs one seed on an idle world, and leaves it idle unless something is wrong. */
export async function runSeed(world: FaultWorld, plan: Plan): Promise<Outcome> {
  const startedAt = performance.now();
  const struckBefore = world.processes.struck().length;
  const session = new Session(world, plan.seed);
  const { facts, rest, violations } = await observe(session, () => perform(session, plan));
  return {
    seed: plan.seed,
    steps: plan.steps.map(nameOf),
    faults: plan.steps.flatMap((step) => ('fault' in step ? [step.fault] : [])),
    acts: plan.steps.flatMap((step) => ('act' in step ? [step.act] : [])),
    violations,
    operations: facts.activities.filter(({ computer }) => computer !== null).length,
    executions: facts.activities.reduce((sum, { id }) => sum + (facts.executions.get(id)?.length ?? 0), 0),
    responses: Object.fromEntries(session.responses),
    struck: world.processes.struck().slice(struckBefore),
    ms: Math.round(performance.now() - startedAt),
    restMs: rest.ms,
    late: rest.late,
  };
}

export interface Observation {
  facts: Facts;
  rest: Rest;
  violations: Outcome['violations'];
}

/** Runs work on an idle world, ends all faults, waits until the world is idle again and collects the facts. */
export async function observe(session: Session, work: () => Promise<void>): Promise<Observation> {
  const { world } = session;
  const watermark = await readWatermark(world.stack);
  try {
    await work();
  } finally {
    await heal(world);
  }
  await finishEnrolments(session);
  await cancelWaiting(session, watermark);
  const rest = await waitUntilAtRest(session, watermark);
  const facts = await collect(session, watermark, rest.pending);
  for (const newcomers of session.newcomers) await newcomers.fleet.stop();
  const wrong = session.wrongResponses.map((text) => ({ invariant: 'responses' as const, text }));
  return { facts, rest, violations: [...violationsIn(facts), ...wrong] };
}

async function perform(session: Session, plan: Plan): Promise<void> {
  const running: Promise<void>[] = [];
  for (const step of plan.steps) {
    await sleep(step.afterMs);
    const run = 'act' in step ? actionOf(step.act) : FAULTS[step.fault].run;
    const done = run(session, streamOf(plan, step));
    if (step.waits) await done;
    else running.push(done);
  }
  await Promise.all(running);
}

/** Waits for enrolments, so that their consequences belong to this seed. */
async function finishEnrolments({ newcomers, removed }: Session): Promise<void> {
  for (const { fleet } of newcomers) {
    const stays = fleet.computers.some(({ computerId }) => computerId === null || !removed.has(computerId));
    if (stays) await fleet.settled(STANDSTILL_MS).catch(() => undefined);
  }
}

/** Cancels operations that are scheduled much later, unapproved, or possibly taken away by a copy of a computer. */
async function cancelWaiting({ world, cloned }: Session, { activity }: Watermark): Promise<void> {
  const rows = await world.stack.rows<{ id: number; account: number }>(
    `select distinct coalesce(parent_id, id) as id, account_id as account from activity
      where id > $1 and status not in ('succeeded', 'failed', 'canceled')
        and (deliver_at > now() + interval '10 minutes' or status = 'unapproved' or computer_id = any($2::int[]))`,
    [activity, [...cloned]],
  );
  for (const party of world.parties) {
    // One by one: a single rejected id, for example of an ended activity, rejects the whole request.
    for (const { id } of rows.filter(({ account }) => account === party.id)) {
      await retryUntilAccepted(() => party.api.request('POST', '/activities/cancel', { activity_ids: [id] }));
    }
  }
}

/** Repeats requests right after the faults, which may still meet one of them. */
async function retryUntilAccepted(send: () => Promise<{ status: number }>): Promise<void> {
  const until = performance.now() + STANDSTILL_MS;
  while (performance.now() < until) {
    const status = await send().then(
      (response) => response.status,
      () => 503,
    );
    if (status < 500 && status !== 429) return;
    await sleep(LOOK_MS);
  }
}

export interface Rest {
  /** Work still open after a long time without changes. */
  pending: string[];
  late: string[];
  ms: number;
}

async function waitUntilAtRest(session: Session, watermark: Watermark): Promise<Rest> {
  const { stack } = session.world;
  const startedAt = performance.now();
  let movedAt = startedAt;
  let [last, late]: [string, string[]] = ['', []];
  for (;;) {
    const pending = await readPending(stack, watermark).catch((error: Error) => [`cannot look: ${error.message}`]);
    const ms = Math.round(performance.now() - startedAt);
    if (pending.length === 0) return { pending, late, ms };
    if (ms > LATE_MS && late.length === 0) late = pending.slice(0, 20);
    const now = pending.toSorted().join('\n');
    if (now !== last) movedAt = performance.now();
    last = now;
    if (performance.now() - movedAt > STANDSTILL_MS) return { pending, late, ms };
    await sleep(LOOK_MS);
  }
}

async function collect(session: Session, watermark: Watermark, pending: readonly string[]): Promise<Facts> {
  const { world, acknowledged, removed, intrusions, mayRepeat, cloned, cancelTried, newcomers } = session;
  const all = [...world.parties.map(({ computers }) => computers), ...newcomers];
  const executions = mergeExecutions(all.map((computers) => computers.executions()));
  const known = await readComputers(world.stack);
  const confirmed = [...removed].filter((id) => !known.owners.has(id));
  return {
    ...(await readRows(world.stack, watermark)),
    deliveries: await readDeliveries(world.stack, watermark.activity),
    executions,
    owners: known.owners,
    tags: known.tags,
    removed: new Set(confirmed),
    openWorkflows: pending.flatMap((text) => /^workflow (\S+) is open$/.exec(text)?.slice(1) ?? []),
    leftovers: pending.filter((text) => !text.startsWith('workflow ')),
    acknowledged,
    mayRepeat: new Set([...mayRepeat, ...removed]),
    cloned,
    cancelTried,
    secretsFound: await findSecrets(world.stack, world.secrets()),
    intrusions,
    protocolViolations: all.flatMap((computers) => computers.violations()),
  };
}

/** A computer and its copy may both have run an operation. */
function mergeExecutions(all: readonly Executions[]): Executions {
  const byId = Map.groupBy(
    all.flatMap((executions) => [...executions]),
    ([id]) => id,
  );
  return new Map([...byId].map(([id, lists]) => [id, lists.flatMap(([, runs]) => runs)]));
}
