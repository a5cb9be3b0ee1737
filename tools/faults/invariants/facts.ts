import type { Delivery, Executions } from '../../harness/delivery-order.ts';

/** A row of `activity`, a group or an operation. */
export interface ActivityFact {
  id: number;
  account: number;
  parent: number | null;
  lane: number | null;
  computer: number | null;
  status: string;
  delivered: boolean;
  ended: boolean;
  /** Counters of its children. */
  counts: Counts & { children: number };
  /** State of its message; null when it has none. */
  message: string | null;
}

export interface LaneFact {
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

/** One change of a status, as recorded by a trigger in its transaction. */
export interface TransitionFact {
  activity: number;
  from: string;
  to: string;
}

/** Something that a client got a 2xx for: it must exist. */
export type Acknowledged =
  | { what: 'group'; account: number; id: number; computers: readonly number[] | null }
  | { what: 'tag'; tag: string; computers: readonly number[] }
  | { what: 'cancel'; account: number; ids: readonly number[] }
  | { what: 'approval'; account: number; ids: readonly number[] }
  | { what: 'removed'; computer: number };

/** All that the invariants are checked on, seen from outside the API: databases, agents, Temporal, files. */
export interface Facts {
  activities: readonly ActivityFact[];
  lanes: readonly LaneFact[];
  transitions: readonly TransitionFact[];
  /** What computers were given, and when. */
  deliveries: readonly Delivery[];
  /** What the agents carried out, by operation, from their own execution logs. */
  executions: Executions;
  /** Account of each computer, also of those removed since. */
  owners: ReadonlyMap<number, number>;
  tags: ReadonlyMap<number, readonly string[]>;
  removed: ReadonlySet<number>;
  openWorkflows: readonly string[];
  /** Rows of queues between database, Temporal and agents that ought to be empty. */
  leftovers: readonly string[];
  acknowledged: readonly Acknowledged[];
  /** Computers whose agent died right after its work: the one case in which an operation may run again. */
  mayRepeat: ReadonlySet<number>;
  /** Computers whose identity two machines had: either of them may carry out what is meant for it, each at most once. */
  cloned: ReadonlySet<number>;
  /** Groups and operations that somebody asked to cancel, whatever was answered. */
  cancelTried: ReadonlySet<number>;
  /** Where a secret was found in clear. */
  secretsFound: readonly string[];
  /** Requests for another account's objects that were not refused. */
  intrusions: readonly string[];
  /** What the server did that no agent accepts. */
  protocolViolations: readonly string[];
}

export const FINAL: ReadonlySet<string> = new Set(['succeeded', 'failed', 'canceled']);
