import type { ActivityStatus } from '../activities/status.ts';

/** State of a batch as stored in its row. Optional fields are missing from older builds and recorded histories. */
export interface BatchProgress {
  open: number;
  succeeded: number;
  failed: number;
  canceled: number;
  /** Time in ms since the epoch when the batch must be processed again without an event; null for none. */
  nextDueAt: number | null;
  /** Titles of the first three computers with open operations. */
  waitingFor: string[];
  moreWaiting?: number;
  chained?: boolean;
  operations?: OpenOperation[];
  /** The first operations whose status this call changed; a repeated call changes none. */
  moved?: MovedOperation[];
  moreMoved?: number;
  /** Set only by the call that canceled the whole batch, not by a repetition of it. */
  wasCanceled?: boolean;
}

/** One batch of a group. Recorded histories contain these fields; optional ones are missing from older histories. */
export interface BatchPlan {
  batch: number;
  /** `batch` in older histories. */
  lane?: number;
  workflowId: string;
  single: boolean;
  type?: string;
  summary: string;
  /** The computer of a batch of one, and its first open operation; null for larger batches. */
  computer?: { id: number; title: string; operation?: number } | null;
  size?: number;
  computers?: number;
  /** Those of the group's first hundred open operations that are its own. */
  operations?: GroupOperation[];
}

export interface GroupProgress {
  open: number;
  status: 'open' | 'succeeded' | 'failed' | 'canceled';
  succeeded: number;
  failed: number;
  canceled: number;
  operations?: GroupOperation[];
}

type WaitsFor = 'approval' | 'earlier operation' | 'delivery time' | 'delivery' | 'result';

export interface OpenOperation {
  computer: string;
  operation: number;
  waitsFor: WaitsFor;
}

export interface GroupOperation extends OpenOperation {
  workflowId: string;
}

interface MovedOperation {
  computer: string;
  operation: number;
  from: ActivityStatus;
  to: ActivityStatus;
}

/** @param deliverAt - earliest delivery; null means immediately */
export function waitsFor(status: ActivityStatus, deliverAt: Date | null, now: Date): WaitsFor {
  if (status === 'unapproved') return 'approval';
  if (status === 'blocked') return 'earlier operation';
  if (status === 'delivered') return 'result';
  return deliverAt !== null && deliverAt > now ? 'delivery time' : 'delivery';
}
