import { ACTIVITY_WORKFLOW_PREFIX } from '../../domain/activities/workflow-id.ts';
import type { ActivitySettings } from '../../process/config.ts';
import { TRANSACTION_LOCKS } from '../database/advisory-locks.ts';
import type { Sql } from '../database/sql.ts';
import {
  CREATE_CHAINED_GROUP,
  CREATE_GROUP,
  CREATE_PAYLOADS,
  CREATE_PER_COMPUTER_GROUP,
  CREATE_UNIFORM_GROUP,
} from './activity-creation.sql.ts';
import { addStartCommand } from './outbox.repository.ts';

/** A message that carries out an operation. */
export interface OperationMessage {
  type: string;
  fields: Readonly<Record<string, unknown>>;
  /** Seconds after delivery until an operation without a result fails; absent or null: the default expiry. */
  answerSeconds?: number | null;
  /** The script whose code is in the fields; they are deleted when it is redacted. */
  scriptId?: number | null;
}

/** What every computer of a group does once; several templates make several operations per computer. */
export interface OperationTemplate {
  type: string;
  summary: string;
  /** Sent to the agent; stored once for all computers. */
  message: OperationMessage;
  /** Index of the template that has to succeed first on the same computer; null: none. */
  after?: number | null;
  /** Seconds between that success and delivery. */
  delaySeconds?: number;
  /** A random delay of up to this many seconds is added, drawn for each computer. */
  delaySpreadSeconds?: number;
}

export interface GroupPlan {
  accountId: number;
  /** Null for work that no person requested. */
  creatorId: number | null;
  type: string;
  summary: string;
  now: Date;
  /** Earliest delivery; null: at once. */
  deliverAfter: Date | null;
  /** Each computer waits an additional random time of at most this many minutes. */
  windowMinutes: number;
  /** Distinct computers, checked by the caller. */
  computers: readonly number[];
  operations: readonly OperationTemplate[];
  /** The request, to show and repeat it. */
  parameters?: Readonly<Record<string, unknown>>;
  reappliedFrom?: number | null;
  reverts?: number | null;
  /** Activity that has to succeed on a computer before it is sent anything of this group; null or absent: none. */
  afterActivity?: number | null;
  /** W3C trace context of the request, continued by the workflow. */
  traceparent?: string | null;
}

export type BatchSettings = Pick<ActivitySettings, 'singleBatchLimit' | 'batchMinSize' | 'batchMaxSize'>;

/**
 * Creates a group: parent, batches, operations, payloads and the outbox command that starts its workflow.
 * @returns id of the parent
 * @remarks Five statements for any number of computers. Part of the caller's transaction, whose commit wakes the
 * dispatcher.
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

/** One operation of a group whose computers do different things. */
export interface ComputerOperationPlan {
  /** Index of its computer in the plan. */
  place: number;
  /** From 0 on each computer, without gaps. */
  link: number;
  /** Link that has to succeed first on the same computer; null: none. */
  after: number | null;
  delaySeconds: number;
  type: string;
  summary: string;
  /** Index in the plan's messages. */
  message: number;
  /** Operation that this one repeats or reverts; null when the group does neither. */
  origin: number | null;
}

export type PerComputerGroupPlan = Omit<GroupPlan, 'operations'> & {
  messages: readonly OperationMessage[];
  operations: readonly ComputerOperationPlan[];
};

/**
 * As {@link createGroup}, with separate operations for each computer. They reference their origins as the group
 * references the activity it repeats or reverts.
 * @returns id of the parent
 */
export async function createPerComputerGroup(
  tx: Sql,
  plan: PerComputerGroupPlan,
  settings: BatchSettings,
): Promise<number> {
  const { operations, messages } = plan;
  const payloads = await createPayloads(
    tx,
    plan,
    messages.map((message) => ({ message })),
  );
  const parent = await nextGroupId(tx, plan.accountId);
  await tx.query(CREATE_PER_COMPUTER_GROUP, [
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
 * The id of the next group. Until the transaction ends no other group of the account can be created, so that no
 * operation becomes visible after one with a higher id.
 */
async function nextGroupId(tx: Sql, accountId: number): Promise<number> {
  const [row] = await tx.query<{ id: number }>(NEXT_GROUP, { acceptance: TRANSACTION_LOCKS.acceptance, accountId });
  return row!.id;
}

// The lock has to come before the number.
const NEXT_GROUP = `select nextval('activity_id_seq')::int as id from pg_advisory_xact_lock(:acceptance::int, :accountId::int)`;

/** Parameters 14 to 22 of the statements that create groups. */
function groupValues(plan: Omit<GroupPlan, 'operations'>, parent: number, settings: BatchSettings): unknown[] {
  const single = hasSingleBatches(plan.computers, settings);
  const size = single ? 1 : batchSize(plan.computers.length, settings);
  return [size, single, parent, ...groupOwn(plan), plan.afterActivity ?? null];
}

function hasSingleBatches(computers: readonly number[], settings: BatchSettings): boolean {
  return computers.length <= settings.singleBatchLimit;
}

/** The last parameters of the statements that create groups. */
function groupOwn(plan: Omit<GroupPlan, 'operations'>): unknown[] {
  return [
    plan.type,
    plan.summary,
    JSON.stringify(plan.parameters ?? {}),
    plan.reappliedFrom ?? null,
    plan.reverts ?? null,
  ];
}

/** The Temporal server rejects a workflow with 2,000 open children. */
const MAX_BATCHES = 1000;

/**
 * Computers per batch of a large group: a tenth of them within the bounds of the settings; above the upper bound where
 * the group would have over a thousand batches.
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
  const rows = await tx.query<{ id: number }>(CREATE_PAYLOADS, {
    accountId: plan.accountId,
    types: operations.map(({ message }) => message.type),
    fields: operations.map(({ message }) => JSON.stringify(message.fields)),
    now: plan.now,
    answerSeconds: operations.map(({ message }) => message.answerSeconds ?? null),
    scriptIds: operations.map(({ message }) => message.scriptId ?? null),
    traceparent: plan.traceparent ?? null,
  });
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
