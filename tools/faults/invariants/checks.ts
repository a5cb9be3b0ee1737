import { TRANSITIONS } from '../../../src/domain/activities/status.ts';
import { outOfOrder, ranOutOfOrder } from '../../harness/delivery-order.ts';
import { type Acknowledged, type ActivityFact, type Counts, type Facts, FINAL } from './facts.ts';

/** Names of the invariants. */
export const INVARIANTS = ['I1', 'I2', 'I3', 'I4', 'I5', 'I6', 'I7', 'I8'] as const;
export type Invariant = (typeof INVARIANTS)[number];

/** Finds violations, each as a sentence. */
export type Check = (facts: Facts) => string[];

export const CHECKS: Readonly<Record<Invariant, Check>> = {
  I1: conservation,
  I2: oneTerminalState,
  I3: oneExecution,
  I4: noOrphan,
  I5: acknowledgedSurvives,
  I6: (facts) => [...facts.secretsFound],
  I7: noEffectAcross,
  I8: acceptedOrder,
};

/** Every violation, by invariant. */
export function violationsIn(facts: Facts): { invariant: Invariant; text: string }[] {
  return INVARIANTS.flatMap((invariant) => CHECKS[invariant](facts).map((text) => ({ invariant, text })));
}

/** I1: accepted = rows = sum over the states, for groups and batches; a group's state follows from its rows. */
function conservation({ activities, batches, acknowledged }: Facts): string[] {
  const byParent = Map.groupBy(activities, ({ parent }) => parent);
  const byBatch = Map.groupBy(activities, ({ batch }) => batch);
  const groups = activities.filter(
    ({ batch, parent, computer }) => parent === null && batch === null && computer === null,
  );
  const found = groups.flatMap((group) => {
    const children = byParent.get(group.id) ?? [];
    return [
      ...(group.counts.children === children.length
        ? []
        : [`group ${group.id} counts ${group.counts.children} operations and has ${children.length}`]),
      ...compareCounts(`group ${group.id}`, group.counts, children),
      ...compareEnd(group, children),
    ];
  });
  for (const batch of batches) {
    const rows = byBatch.get(batch.id) ?? [];
    if (batch.size !== rows.length)
      found.push(`batch ${batch.id} counts ${batch.size} operations and has ${rows.length}`);
    found.push(...compareCounts(`batch ${batch.id}`, batch.counts, rows));
  }
  const accepted = acknowledged.filter((fact) => fact.what === 'group');
  for (const { id, computers } of accepted) {
    if (computers === null) continue;
    const got = new Set((byParent.get(id) ?? []).map(({ computer }) => computer));
    const missing = computers.filter((computer) => !got.has(computer));
    if (missing.length > 0) found.push(`group ${id} has no operation for computers ${missing.join(', ')}`);
    if (got.size > computers.length) found.push(`group ${id} has operations for computers that were not requested`);
  }
  return found;
}

function compareCounts(what: string, stored: Counts, rows: readonly ActivityFact[]): string[] {
  // A report by the server is an activity without operations.
  if (rows.length === 0) return [];
  const count = (status: string): number => rows.filter((row) => row.status === status).length;
  const real: Counts = {
    open: rows.filter(({ status }) => !FINAL.has(status)).length,
    succeeded: count('succeeded'),
    failed: count('failed'),
    canceled: count('canceled'),
  };
  return (Object.keys(real) as (keyof Counts)[])
    .filter((key) => stored[key] !== real[key])
    .map((key) => `${what} counts ${key} ${stored[key]} and its rows count ${real[key]}`);
}

function compareEnd({ id, status, delivered }: ActivityFact, rows: readonly ActivityFact[]): string[] {
  if (rows.length === 0) return [];
  const is = (wanted: string) => rows.some((row) => row.status === wanted);
  const end = is('failed') ? 'failed' : is('canceled') ? 'canceled' : 'succeeded';
  const found =
    rows.every((row) => FINAL.has(row.status)) && status !== end ? [`group ${id} is ${status}, not ${end}`] : [];
  if (delivered === rows.some((row) => row.delivered)) return found;
  return [...found, `group ${id} states that ${delivered ? 'something' : 'nothing'} was delivered`];
}

/** I2: one terminal state, which only a canceled operation may leave, once, by a result. */
function oneTerminalState({ activities, transitions }: Facts): string[] {
  const found: string[] = [];
  const operations = new Set(activities.filter(({ computer }) => computer !== null).map(({ id }) => id));
  for (const { id, status, ended } of activities) {
    if (ended !== FINAL.has(status)) found.push(`activity ${id} is ${status} ${ended ? 'with' : 'without'} an end`);
  }
  const ends = new Map<number, number>();
  for (const { activity, from, to } of transitions) {
    if (!operations.has(activity)) continue;
    const allowed: readonly string[] = TRANSITIONS[from as keyof typeof TRANSITIONS] ?? [];
    if (!allowed.includes(to)) found.push(`operation ${activity} went from ${from} to ${to}`);
    if (FINAL.has(to) && from !== 'canceled') ends.set(activity, (ends.get(activity) ?? 0) + 1);
  }
  for (const [activity, times] of ends) if (times > 1) found.push(`operation ${activity} ended ${times} times`);
  return found;
}

/** I3: a success never runs twice, a withdrawn operation never runs; each runs on its own computer. */
function oneExecution({ activities, executions, mayRepeat, cloned, protocolViolations }: Facts): string[] {
  const found = [...protocolViolations];
  for (const { id, computer, status, message } of activities) {
    if (computer === null) continue;
    const runs = executions.get(id) ?? [];
    const once = cloned.has(computer) ? 2 : 1;
    const most = message === 'withdrawn' ? 0 : mayRepeat.has(computer) ? Number.POSITIVE_INFINITY : once;
    const least = status === 'succeeded' ? 1 : 0;
    if (runs.length > most || runs.length < least) {
      found.push(`operation ${id} (${status}, message ${message}) ran ${runs.length} times`);
    }
    for (const run of runs) {
      // A copy may have got its own computer id before it ran what it had received.
      if (run.computerId !== computer && !cloned.has(computer))
        found.push(`operation ${id} of computer ${computer} ran on ${run.computerId}`);
    }
  }
  return found;
}

/** I4: every open activity has its open workflow and vice versa; queues hold nothing that has finished. */
function noOrphan({ activities, batches, openWorkflows, leftovers }: Facts): string[] {
  const expected = new Set<string>();
  for (const { workflow, parent, counts } of batches) {
    if (counts.open === 0) continue;
    expected.add(workflow);
    if (parent !== null) expected.add(`activity/${parent}`);
  }
  for (const { id, status, batch, parent } of activities) {
    if (!FINAL.has(status) && batch === null && parent === null) expected.add(`activity/${id}`);
  }
  const open = new Set(openWorkflows);
  return [
    ...leftovers,
    ...[...expected].filter((id) => !open.has(id)).map((id) => `${id} has open rows and no open workflow`),
    ...[...open].filter((id) => !expected.has(id)).map((id) => `workflow ${id} is open and has no open rows`),
  ];
}

function acknowledgedSurvives(facts: Facts): string[] {
  const byId = new Map(facts.activities.map((activity) => [activity.id, activity]));
  return facts.acknowledged.flatMap((fact) => lostOf(fact, facts, byId));
}

function lostOf(fact: Acknowledged, facts: Facts, byId: ReadonlyMap<number, ActivityFact>): string[] {
  const { tags, removed } = facts;
  if (fact.what === 'approval') return forgottenOf(fact.ids, facts);
  if (fact.what === 'group') {
    const isThere = byId.get(fact.id)?.account === fact.account;
    return isThere ? [] : [`activity ${fact.id} was accepted and does not exist`];
  }
  if (fact.what === 'tag') {
    const without = fact.computers.filter((id) => !removed.has(id) && !tags.get(id)?.includes(fact.tag));
    return without.map((id) => `computer ${id} lost the tag ${fact.tag}`);
  }
  if (fact.what === 'cancel') {
    const open = fact.ids.filter((id) => byId.get(id)?.ended === false);
    return open.map((id) => `activity ${id} goes on though its cancel was accepted`);
  }
  return removed.has(fact.computer) ? [] : [`computer ${fact.computer} still exists though its removal was accepted`];
}

/** Approvals must take effect: a later cancel finds an ended activity, and an earlier one was requested. */
function forgottenOf(approved: readonly number[], { activities, transitions, cancelTried }: Facts): string[] {
  const ids = new Set(approved);
  const isConcerned = ({ id, parent }: ActivityFact): boolean =>
    ids.has(id) || (parent !== null && ids.has(parent) && !cancelTried.has(id) && !cancelTried.has(parent));
  const canceled = new Set(
    transitions.flatMap(({ activity, from, to }) => (from === 'unapproved' && to === 'canceled' ? [activity] : [])),
  );
  return activities.filter(isConcerned).flatMap(({ id, status, computer }) => {
    const stayed = computer !== null && (status === 'unapproved' || canceled.has(id));
    return stayed ? [`operation ${id} was approved and that is lost`] : [];
  });
}

/** I7: no account affects another. */
function noEffectAcross({ activities, executions, owners, intrusions }: Facts): string[] {
  const byId = new Map(activities.map((activity) => [activity.id, activity]));
  const found = [...intrusions];
  for (const { id, account, computer, parent } of activities) {
    const owner = computer === null ? undefined : owners.get(computer);
    if (owner !== undefined && owner !== account) found.push(`operation ${id} of account ${account} is for another's`);
    const group = parent === null ? undefined : byId.get(parent);
    if (group && group.account !== account) found.push(`operation ${id} is in a group of another account`);
  }
  for (const [id, runs] of executions) {
    const account = byId.get(id)?.account;
    for (const { computerId } of runs) {
      const owner = computerId === null ? undefined : owners.get(computerId);
      if (account !== undefined && owner !== undefined && owner !== account) {
        found.push(`operation ${id} of account ${account} ran on a computer of account ${owner}`);
      }
    }
  }
  return found;
}

/** I8: a computer gets and runs its operations in the order of their acceptance, except those that were not due. */
function acceptedOrder({ deliveries, executions, mayRepeat, cloned }: Facts): string[] {
  return [...outOfOrder(deliveries), ...ranOutOfOrder(deliveries, executions, new Set([...mayRepeat, ...cloned]))];
}
