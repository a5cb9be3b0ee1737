import { ACTIVITY_WORKFLOW_PREFIX } from '../../domain/activities/workflow-id.ts';
import type { ActivitySettings } from '../../process/config.ts';
import { TRANSACTION_LOCKS } from '../database/advisory-locks.ts';
import type { Sql } from '../database/sql.ts';
import {
  CREATE_CHAINED_GROUP,
  CREATE_GROUP,
  CREATE_PAYLOADS,
  CREATE_PLACED_GROUP,
  CREATE_UNIFORM_GROUP,
} from './activity-creation.sql.ts';
import { addStartCommand } from './outbox.repository.ts';

/** A message that carries out an operation. */
export interface OperationMessage {
  type: string;
  fields: Readonly<Record<string, unknown>>;
  /** Seconds after delivery at which an operation without an answer fails; absent or null: after the usual days. */
  answerSeconds?: number | null;
  /** The script whose code is in the fields, which go when it is redacted. */
  scriptId?: number | null;
}

/** What every computer of a group does once; several of them make several operations per computer. */
export interface OperationTemplate {
  type: string;
  summary: string;
  /** Sent to the agent; stored once for all computers. */
  message: OperationMessage;
  /** Index of the template whose success on the same computer this one waits for; null: at once. */
  after?: number | null;
  /** Seconds between that success and delivery. */
  delaySeconds?: number;
  /** A uniform random part of this many seconds is added to the delay, for each computer its own. */
  delaySpreadSeconds?: number;
}

export interface GroupPlan {
  accountId: number;
  /** Null for work that nobody asked for. */
  creatorId: number | null;
  type: string;
  summary: string;
  now: Date;
  /** Earliest delivery; null: at once. */
  deliverAfter: Date | null;
  /** Each computer waits a uniform random time of at most this many minutes on top. */
  windowMinutes: number;
  /** Distinct computers, checked by the caller. */
  computers: readonly number[];
  operations: readonly OperationTemplate[];
  /** What was asked for, for showing and repeating it. */
  parameters?: Readonly<Record<string, unknown>>;
  reappliedFrom?: number | null;
  reverts?: number | null;
  /** Activity that has to succeed on a computer before anything of this goes to it; null or absent: none. */
  afterActivity?: number | null;
  /** W3C trace context of the request, continued by the workflow. */
  traceparent?: string | null;
}

export type BatchSettings = Pick<ActivitySettings, 'singleBatchLimit' | 'batchMinSize' | 'batchMaxSize'>;

/**
 * Creates a group: parent, batches, operations, payloads and the command to start its workflow.
 * @returns id of the parent
 * @remarks Five statements whatever the number of computers. Part of the caller's transaction; the dispatcher is woken at
 * its commit.
 * @see docs/architecture.md#tables-of-the-engine
 */
export async function createGroup(tx: Sql, plan: GroupPlan, settings: BatchSettings): Promise<number> {
  const payloads = await createPayloads(tx, plan, plan.operations);
  const parent = await nextGroupId(tx, plan.accountId);
  if (isUniform(plan, settings)) {
    await tx.query(CREATE_UNIFORM_GROUP, uniformValues(plan, parent, payloads[0]!, settings));
  } else {
    const chained = plan.operations.some(({ after }) => typeof after === 'number');
    await tx.query(chained ? CREATE_CHAINED_GROUP : CREATE_GROUP, [
      ...operationArrays(plan, payloads),
      ...groupValues(plan, parent, settings),
    ]);
  }
  await addStartCommand(tx, parent, plan);
  return parent;
}

function isUniform(plan: GroupPlan, settings: BatchSettings): boolean {
  const [first, ...others] = plan.operations;
  if (!first || others.length > 0 || plan.windowMinutes > 0 || (plan.afterActivity ?? null) !== null) return false;
  if (hasSingleBatches(plan.computers, settings)) return false;
  return (first.delaySeconds ?? 0) === 0 && (first.delaySpreadSeconds ?? 0) === 0;
}

function uniformValues(plan: GroupPlan, parent: number, payload: number, settings: BatchSettings): unknown[] {
  const { type, summary } = plan.operations[0]!;
  return [
    plan.computers,
    type,
    summary,
    payload,
    plan.accountId,
    plan.creatorId,
    plan.now,
    plan.deliverAfter,
    ACTIVITY_WORKFLOW_PREFIX,
    batchSize(plan.computers.length, settings),
    parent,
    ...groupOwn(plan),
  ];
}

/** One operation of a group that does not do the same everywhere. */
export interface PlacedOperation {
  /** Position of its computer in the plan's, from 0. */
  place: number;
  /** From 0 on each computer, without gaps. */
  link: number;
  /** Link whose success on the same computer this one waits for; null: at once. */
  after: number | null;
  delaySeconds: number;
  type: string;
  summary: string;
  /** Position in the plan's messages, from 0. */
  message: number;
  /** Operation that this one repeats or undoes; null where the group repeats and undoes nothing. */
  origin: number | null;
}

export type PlacedGroupPlan = Omit<GroupPlan, 'operations'> & {
  messages: readonly OperationMessage[];
  operations: readonly PlacedOperation[];
};

/**
 * As {@link createGroup}, with operations of its own for each computer. They point at their origins as the group does
 * at the activity it repeats or undoes.
 * @returns id of the parent
 */
export async function createPlacedGroup(tx: Sql, plan: PlacedGroupPlan, settings: BatchSettings): Promise<number> {
  const { operations, messages } = plan;
  const payloads = await createPayloads(
    tx,
    plan,
    messages.map((message) => ({ message })),
  );
  const parent = await nextGroupId(tx, plan.accountId);
  await tx.query(CREATE_PLACED_GROUP, [
    ...operationArrays(
      { ...plan, operations: operations.map((operation) => ({ ...operation, message: messages[operation.message]! })) },
      operations.map(({ message }) => payloads[message]!),
    ),
    ...groupValues(plan, parent, settings),
    operations.map(({ place }) => place + 1),
    operations.map(({ link }) => link + 1),
    operations.map(({ origin }) => origin),
  ]);
  await addStartCommand(tx, parent, plan);
  return parent;
}

/**
 * The id of a group that is made next. Its transaction keeps others of the account from making theirs until it ends, so
 * that no operation becomes visible after one with a higher id.
 */
async function nextGroupId(tx: Sql, accountId: number): Promise<number> {
  const [row] = await tx.query<{ id: number }>(NEXT_GROUP, [TRANSACTION_LOCKS.acceptance, accountId]);
  return row!.id;
}

// The lock first, then the number.
const NEXT_GROUP = `select nextval('activity_id_seq')::int as id from pg_advisory_xact_lock($1::int, $2::int)`;

/** Parameters 14 to 22 of the statements that create groups. */
function groupValues(plan: Omit<GroupPlan, 'operations'>, parent: number, settings: BatchSettings): unknown[] {
  const single = hasSingleBatches(plan.computers, settings);
  const size = single ? 1 : batchSize(plan.computers.length, settings);
  return [size, single, parent, ...groupOwn(plan), plan.afterActivity ?? null];
}

/** Whether each computer has a batch of its own. */
function hasSingleBatches(computers: readonly number[], settings: BatchSettings): boolean {
  return computers.length <= settings.singleBatchLimit;
}

/** What the statements that create groups end with. */
function groupOwn(plan: Omit<GroupPlan, 'operations'>): unknown[] {
  return [
    plan.type,
    plan.summary,
    JSON.stringify(plan.parameters ?? {}),
    plan.reappliedFrom ?? null,
    plan.reverts ?? null,
  ];
}

/** The server refuses a workflow with 2,000 open children. */
const MAX_BATCHES = 1000;

/**
 * Computers per batch of a large group: a tenth of them within the bounds of the settings, and more than their upper
 * bound where the group would have over a thousand batches.
 * @see docs/architecture.md#how-many-workflows
 */
export function batchSize(computers: number, settings: BatchSettings): number {
  const size = Math.min(settings.batchMaxSize, Math.max(settings.batchMinSize, Math.ceil(computers / 10)));
  return Math.max(size, Math.ceil(computers / MAX_BATCHES));
}

async function createPayloads(
  tx: Sql,
  plan: { accountId: number; now: Date; traceparent?: string | null },
  operations: ReadonlyArray<Pick<OperationTemplate, 'message'>>,
): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(CREATE_PAYLOADS, [
    plan.accountId,
    operations.map(({ message }) => message.type),
    operations.map(({ message }) => JSON.stringify(message.fields)),
    plan.now,
    operations.map(({ message }) => message.answerSeconds ?? null),
    operations.map(({ message }) => message.scriptId ?? null),
    plan.traceparent ?? null,
  ]);
  return rows.map(({ id }) => id);
}

/** The first thirteen parameters of all statements that create operations. */
function operationArrays(plan: GroupPlan, payloads: readonly number[]): unknown[] {
  const { operations } = plan;
  return [
    plan.computers,
    operations.map(({ type }) => type),
    operations.map(({ summary }) => summary),
    payloads,
    operations.map(({ after }) => (typeof after === 'number' ? after + 1 : null)),
    operations.map(({ delaySeconds }) => delaySeconds ?? 0),
    operations.map(({ delaySpreadSeconds }) => delaySpreadSeconds ?? 0),
    plan.accountId,
    plan.creatorId,
    plan.now,
    plan.deliverAfter,
    plan.windowMinutes,
    ACTIVITY_WORKFLOW_PREFIX,
  ];
}
