import type { ActivityStatus } from '../activities/status.ts';

/**
 * How a batch stands after a call; read from its row, so that a repeated call gives the same answer.
 * @remarks Optional is what activities of older builds, and recorded histories, do not have.
 */
export interface BatchProgress {
  open: number;
  succeeded: number;
  failed: number;
  canceled: number;
  /** Instant in ms since the epoch when the batch must be processed again without an event; null when nothing is due. */
  nextDueAt: number | null;
  /** Titles of the first three computers still open, for the operator's view; none while more than a hundred are. */
  waitingFor: string[];
  /** How many other computers are open beside those named; absent while none is named. */
  moreWaiting?: number;
  /** Whether a computer may have several operations in the batch. */
  chained?: boolean;
  /** The open operations, the first ones first; absent while more than a hundred are open. */
  operations?: OpenOperation[];
  /** The first operations that this call moved; a repeated call moves none. */
  moved?: MovedOperation[];
  /** How many more it moved. */
  moreMoved?: number;
  /** Set by the one call that applied a cancel of the whole batch; a repeated call does not know it. */
  wasCanceled?: boolean;
}

/**
 * One batch of a group, as its parent starts it. Recorded histories name its fields.
 * @remarks Optional is what activities of older builds, and recorded histories, do not have.
 */
export interface BatchPlan {
  lane: number;
  workflowId: string;
  single: boolean;
  /** Type of its first operation. */
  type?: string;
  /** One line for operators, for example "computers 1-500 of 10,000". */
  summary: string;
  /** The computer of a batch of one; null for a batch of many. */
  computer?: { id: number; title: string } | null;
  /** How many operations the batch holds. */
  size?: number;
  /** How many computers they are of. */
  computers?: number;
}

/** How a group stands, read from its parent row. */
export interface GroupProgress {
  open: number;
  status: 'open' | 'succeeded' | 'failed' | 'canceled';
  succeeded: number;
  failed: number;
  canceled: number;
}

/** What an operation waits for. */
export type WaitsFor = 'approval' | 'earlier operation' | 'delivery time' | 'delivery' | 'result';

export interface OpenOperation {
  computer: string;
  operation: number;
  waitsFor: WaitsFor;
}

export interface MovedOperation {
  computer: string;
  operation: number;
  from: ActivityStatus;
  to: ActivityStatus;
}

/** @param deliverAt - earliest delivery; null: at once */
export function waitsFor(status: ActivityStatus, deliverAt: Date | null, now: Date): WaitsFor {
  if (status === 'unapproved') return 'approval';
  if (status === 'blocked') return 'earlier operation';
  if (status === 'delivered') return 'result';
  return deliverAt !== null && deliverAt > now ? 'delivery time' : 'delivery';
}
