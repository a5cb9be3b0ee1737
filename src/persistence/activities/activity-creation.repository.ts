import { ACTIVITY_WORKFLOW_PREFIX } from '../../domain/activities/workflow-id.ts';
import type { ActivitySettings } from '../../process/config.ts';
import type { Sql } from '../database/sql.ts';
import { Activity } from './activity.entity.ts';
import {
  CREATE_CHAINED_GROUP,
  CREATE_GROUP,
  CREATE_PER_COMPUTER_GROUP,
  CREATE_SMALL_GROUPS,
  CREATE_UNIFORM_GROUP,
  insertPayloads,
  insertRows,
  nextGroupIds,
} from './activity-creation.sql.ts';
import { OutboxCommand } from './outbox.entity.ts';
import { ACTIVITIES, wakeDispatchers } from './outbox.sql.ts';

export interface OperationMessage {
  type: string;
  fields: Readonly<Record<string, unknown>>;
  /** Seconds after delivery until an operation without a result fails; absent or null: the default expiry. */
  answerSeconds?: number | null;
  /** The script whose code is in the fields; they are deleted when it is redacted. */
  scriptId?: number | null;
}

export interface OperationTemplate {
  type: string;
  summary: string;
  message: OperationMessage;
  /** Index of the template that has to succeed first on the same computer; null: none. */
  after?: number | null;
  delaySeconds?: number;
  /** A random delay of up to this many seconds is added, drawn for each computer. */
  delaySpreadSeconds?: number;
}

export interface GroupPlan {
  accountId: number;
  creatorId: number | null;
  type: string;
  summary: string;
  now: Date;
  deliverAfter: Date | null;
  /** Each computer waits an additional random time of at most this many minutes. */
  windowMinutes: number;
  /** Distinct computers, checked by the caller. */
  computers: readonly number[];
  operations: readonly OperationTemplate[];
  parameters?: Readonly<Record<string, unknown>>;
  reappliedFrom?: number | null;
  reverts?: number | null;
  /** Activity that has to succeed on a computer before it is sent anything of this group; null or absent: none. */
  afterActivity?: number | null;
  traceparent?: string | null;
}

type BatchSettings = Pick<ActivitySettings, 'singleBatchLimit' | 'batchMinSize' | 'batchMaxSize'>;

/**
 * Creates a group with operations and start command, without messages: its workflow queues what is still open then.
 * @returns its id. @see docs/architecture.md#tables-of-the-engine
 */
export async function createGroup(tx: Sql, plan: GroupPlan, settings: BatchSettings): Promise<number> {
  const payloads = await createPayloads(
    tx,
    plan,
    plan.operations.map(({ message }) => ({ ...message, accountId: plan.accountId })),
  );
  const parent = (await nextGroupIds(tx, [plan.accountId]))[0]!;
  const group = groupValues(plan, parent, settings);
  const [first, ...others] = plan.operations;
  const isAtOnce = plan.windowMinutes <= 0 && group.afterActivity === null;
  if (first && others.length === 0 && isAtOnce && !group.single && !first.delaySeconds && !first.delaySpreadSeconds) {
    const operation = { operationType: first.type, operationSummary: first.summary, payload: payloads[0] };
    await insertRows(tx, CREATE_UNIFORM_GROUP, { ...group, ...operation });
  } else {
    const chained = plan.operations.some(({ after }) => typeof after === 'number');
    const operations = { ...operationValues(plan.operations), payloads };
    await insertRows(tx, chained ? CREATE_CHAINED_GROUP : CREATE_GROUP, { ...group, ...operations });
  }
  await addStartCommand(tx, parent, plan);
  return parent;
}

/** The longest text of operations in one statement, in characters. */
const MAX_TEXT = 4_000_000;

/**
 * As {@link createGroup}, in a few statements for all small groups among `plans`, whose messages are queued at once.
 * Plans come by account, ascending, against deadlocks, with the same time and trace. @returns ids, in the same order
 */
export async function createGroups(
  tx: Sql,
  plans: AsyncIterable<GroupPlan> | Iterable<GroupPlan>,
  settings: BatchSettings,
): Promise<number[]> {
  const ids: number[] = [];
  let small: GroupPlan[] = [];
  let text = 0;
  const flush = async (): Promise<void> => {
    if (small.length > 0) ids.push(...(await createSmallGroups(tx, small)));
    [small, text] = [[], 0];
  };
  for await (const plan of plans) {
    const isSmall = plan.computers.length <= settings.singleBatchLimit && plan.deliverAfter === null;
    if (isSmall && plan.windowMinutes <= 0 && !plan.afterActivity) {
      small.push(plan);
      text += JSON.stringify(plan.operations).length;
      if (text > MAX_TEXT) await flush();
    } else {
      await flush();
      ids.push(await createGroup(tx, plan, settings));
    }
  }
  await flush();
  return ids;
}

async function createSmallGroups(tx: Sql, plans: readonly GroupPlan[]): Promise<number[]> {
  const { now, traceparent = null } = plans[0]!;
  const operations = plans.flatMap((plan, group) =>
    plan.operations.map((operation, link) => ({ ...operation, group, link: link + 1, accountId: plan.accountId })),
  );
  const messages = operations.map(({ message, accountId }) => ({ ...message, accountId }));
  const payloads = await createPayloads(tx, { now, traceparent }, messages);
  const accountIds = plans.map(({ accountId }) => accountId);
  const ids = await nextGroupIds(tx, accountIds);
  const computers = plans.flatMap((plan, group) => plan.computers.map((computer, n) => ({ computer, group, n })));
  const values = {
    now,
    traceparent,
    prefix: ACTIVITY_WORKFLOW_PREFIX,
    groups: ids,
    accountIds,
    creatorIds: plans.map(({ creatorId }) => creatorId),
    groupTypes: plans.map(({ type }) => type),
    groupSummaries: plans.map(({ summary }) => summary),
    parameters: plans.map(({ parameters }) => JSON.stringify(parameters ?? {})),
    counts: plans.map((plan) => plan.computers.length),
    batchGroups: computers.map(({ group }) => ids[group]!),
    computers: computers.map(({ computer }) => computer),
    places: computers.map(({ n }) => n + 1),
    operationGroups: operations.map(({ group }) => ids[group]!),
    links: operations.map(({ link }) => link),
    ...operationValues(operations),
    payloads,
  };
  await insertRows(tx, CREATE_SMALL_GROUPS, values, 'create-small-groups');
  return ids;
}

/** Indexes: `place` of its computer, `link` and `after` on it, without gaps, `message` in the plan's messages. */
export interface ComputerOperationPlan {
  place: number;
  link: number;
  after: number | null;
  delaySeconds: number;
  type: string;
  summary: string;
  message: number;
  origin: number | null;
}

export type PerComputerGroupPlan = Omit<GroupPlan, 'operations'> & {
  messages: readonly OperationMessage[];
  operations: readonly ComputerOperationPlan[];
};

/** As {@link createGroup}, with separate operations for each computer, and references to their origins. */
export async function createPerComputerGroup(
  tx: Sql,
  plan: PerComputerGroupPlan,
  settings: BatchSettings,
): Promise<number> {
  const { operations, accountId } = plan;
  const messages = plan.messages.map((message) => ({ ...message, accountId }));
  const payloads = await createPayloads(tx, plan, messages);
  const parent = (await nextGroupIds(tx, [plan.accountId]))[0]!;
  await insertRows(tx, CREATE_PER_COMPUTER_GROUP, {
    ...groupValues(plan, parent, settings),
    ...operationValues(operations),
    payloads: operations.map(({ message }) => payloads[message]!),
    places: operations.map(({ place }) => place + 1),
    links: operations.map(({ link }) => link + 1),
    origins: operations.map(({ origin }) => origin),
  });
  await addStartCommand(tx, parent, plan);
  return parent;
}

function groupValues(plan: Omit<GroupPlan, 'operations'>, parent: number, settings: BatchSettings) {
  const { length } = plan.computers;
  const single = length <= settings.singleBatchLimit;
  return {
    ...plan,
    reappliedFrom: plan.reappliedFrom ?? null,
    reverts: plan.reverts ?? null,
    afterActivity: plan.afterActivity ?? null,
    parent,
    // The workflow of the group is that of its only computer.
    alone: single && length === 1,
    single,
    prefix: ACTIVITY_WORKFLOW_PREFIX,
    batchSize: single ? 1 : batchSize(length, settings),
    parameters: JSON.stringify(plan.parameters ?? {}),
  };
}

function operationValues(operations: ReadonlyArray<Omit<OperationTemplate, 'message'>>) {
  return {
    types: operations.map(({ type }) => type),
    summaries: operations.map(({ summary }) => summary),
    afters: operations.map(({ after }) => (typeof after === 'number' ? after + 1 : null)),
    delays: operations.map(({ delaySeconds }) => delaySeconds ?? 0),
    spreads: operations.map(({ delaySpreadSeconds }) => delaySpreadSeconds ?? 0),
  };
}

/** The Temporal server rejects a workflow with 2,000 open children. */
const MAX_BATCHES = 1000;

/** Computers per batch of a large group. @see docs/architecture.md#how-many-workflows */
export function batchSize(computers: number, settings: BatchSettings): number {
  const size = Math.min(settings.batchMaxSize, Math.max(settings.batchMinSize, Math.ceil(computers / 10)));
  return Math.max(size, Math.ceil(computers / MAX_BATCHES));
}

function createPayloads(
  tx: Sql,
  { now, traceparent = null }: { now: Date; traceparent?: string | null },
  messages: ReadonlyArray<OperationMessage & { accountId: number }>,
): Promise<number[]> {
  return insertPayloads(tx, {
    now,
    traceparent,
    accountIds: messages.map(({ accountId }) => accountId),
    types: messages.map(({ type }) => type),
    fields: messages.map(({ fields }) => JSON.stringify(fields)),
    answerSeconds: messages.map(({ answerSeconds }) => answerSeconds ?? null),
    scriptIds: messages.map(({ scriptId }) => scriptId ?? null),
  });
}

/** Adds the command to start the workflow of an activity. @see docs/architecture.md#starting-it */
export async function addStartCommand(
  tx: Sql,
  activityId: number,
  command: { accountId: number; traceparent?: string | null; now: Date },
): Promise<void> {
  const { accountId, traceparent = null, now: creationTime } = command;
  await tx.em.insert(OutboxCommand, { kind: 'start', key: String(activityId), traceparent, creationTime, accountId });
  await wakeDispatchers(tx, ACTIVITIES);
}

export interface EmptyRun {
  accountId: number;
  creatorId: number;
  type: string;
  summary: string;
  parameters: object;
  traceparent: string | null;
  now: Date;
}

/** Stores the successful activity of a run without computers, so that operators see every run. @returns its id */
export async function insertEmptyRun(tx: Sql, run: EmptyRun): Promise<number> {
  const { accountId, creatorId, type, summary, parameters, now } = run;
  const times = { creationTime: now, modificationTime: now, completionTime: now };
  const who = { accountId, creatorId };
  const id = await tx.em.insert(Activity, { ...who, ...times, type, summary, parameters, status: 'succeeded' });
  await addStartCommand(tx, id, run);
  return id;
}
