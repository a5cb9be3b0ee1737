import type { Delivery, Executions } from '../../harness/delivery-order.ts';

/** A row of `activity`, a group or an operation. */
export interface ActivityFact {
  id: number;
  account: number;
  parent: number | null;
  batch: number | null;
  computer: number | null;
  status: string;
  delivered: boolean;
  ended: boolean;
  counts: Counts & { children: number };
  /** State of its message; null when it has none. */
  message: string | null;
}

export interface BatchFact {
  id: number;
  parent: number | null;
  workflow: string;
  size: number;
  counts: Counts;
}

export interface Counts {
  open: number;
  succeeded: number;
  failed: number;
  canceled: number;
}

/** One change of a status, recorded by a trigger in its transaction. */
export interface TransitionFact {
  activity: number;
  from: string;
  to: string;
}

/** An object for which a client got a 2xx response: it must exist. */
export type Acknowledged =
  | { what: 'group'; account: number; id: number; computers: readonly number[] | null }
  | { what: 'tag'; tag: string; computers: readonly number[] }
  | { what: 'cancel'; account: number; ids: readonly number[] }
  | { what: 'approval'; account: number; ids: readonly number[] }
  | { what: 'removed'; computer: number };

/** Input of the invariants, observed from outside the API: databases, agents, Temporal, files. */
export interface Facts {
  activities: readonly ActivityFact[];
  batches: readonly BatchFact[];
  transitions: readonly TransitionFact[];
  /** Messages that computers received, and when. */
  deliveries: readonly Delivery[];
  /** Executions by operation, from the agents' own logs. */
  executions: Executions;
  owners: ReadonlyMap<number, number>;
  tags: ReadonlyMap<number, readonly string[]>;
  removed: ReadonlySet<number>;
  openWorkflows: readonly string[];
  /** Rows of queues between database, Temporal and agents that should be empty. */
  leftovers: readonly string[];
  acknowledged: readonly Acknowledged[];
  /** Computers whose agent died right after its work: the only case in which an operation may run again. */
  mayRepeat: ReadonlySet<number>;
  /** Computers whose identity two machines had: each may run an operation at most once. */
  cloned: ReadonlySet<number>;
  /** Groups and operations for which a cancel was requested, whatever the response. */
  cancelTried: ReadonlySet<number>;
  secretsFound: readonly string[];
  /** Requests for another account's objects that were not rejected. */
  intrusions: readonly string[];
  protocolViolations: readonly string[];
}

export const FINAL: ReadonlySet<string> = new Set(['succeeded', 'failed', 'canceled']);
