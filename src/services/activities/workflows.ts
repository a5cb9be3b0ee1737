import type { Database } from '../../persistence/database/sql.ts';
import type { Startable } from '../../persistence/engine/startable.sql.ts';
import type { Logger } from '../../process/logger.ts';

export type { Startable };

/**
 * `orphaned`: ended by a repair after a restore, so it belonged to other rows. `failed`: by a defect or a missing row, in
 * this build. `stuck`: its tasks fail. `busy`: it has a task.
 */
export type WorkflowState = 'running' | 'busy' | 'stuck' | 'terminated' | 'closed' | 'failed' | 'missing' | 'orphaned';

/** If the id has a run: `reject`: none may exist; `allow`: none may be open; `replace`: terminates an open one. */
export type StartMode = 'reject' | 'allow' | 'replace';

/** Workflows of activities on the Temporal server. A call is false for one that has ended or is missing. */
export interface Workflows {
  /** The state of the latest run of a workflow id. */
  state(workflowId: string): Promise<WorkflowState>;
  /** Those known to run; the others need a closer check. */
  runningAmong(workflowIds: readonly string[]): Promise<Set<string>>;
  /** Starts the workflow of a row. @returns false when the id is already used */
  start(row: Startable, mode: StartMode): Promise<boolean>;
  cancel(workflowId: string): Promise<boolean>;
  /** Signals a batch to process its events; safe to lose or repeat. */
  wakeUp(workflowId: string): Promise<boolean>;
  /** Terminates one so that its state is `orphaned`. */
  terminateOrphan(workflowId: string): Promise<boolean>;
  /** Ids of those that run, in chunks. */
  running(): AsyncIterable<string[]>;
  /** The highest activity id among the workflows that started last and those that ended last; 0 without any. */
  highestActivity(): Promise<number>;
}

export const REPAIRS = ['restarted', 'closed'] as const;
export type RepairMade = (typeof REPAIRS)[number];
export type Repair = 'none' | RepairMade;

export const STUCK_REASONS = ['task', 'failure'] as const;
export type StuckReason = (typeof STUCK_REASONS)[number];

export interface RepairDeps {
  db: Database;
  workflows: Workflows;
  logger: Logger;
  stuck?: (reason: StuckReason) => void;
}

/** A run of the reconciler. */
export interface RepairRun extends RepairDeps {
  settleMs: number;
  count: (workflowId: string, repair: Repair) => void;
}

export type StuckDeps = Pick<RepairDeps, 'logger' | 'stuck'>;

/** Reports a workflow that needs a fixed build or an operator. */
export function reportStuck({ logger, stuck }: StuckDeps, workflowId: string, reason: StuckReason): void {
  stuck?.(reason);
  logger.error({ workflowId, reason }, 'workflow is stuck: it needs a fixed build or an operator');
}

/** Reports a workflow that failed permanently. @returns whether it did, runs or is stuck, so that nothing may replace it */
export function isLeftStanding(deps: StuckDeps, workflowId: string, state: WorkflowState): boolean {
  if (state === 'failed') reportStuck(deps, workflowId, 'failure');
  return state === 'running' || state === 'busy' || state === 'stuck' || state === 'failed';
}

/** Result text of operations whose workflow an operator terminated. */
export const TERMINATED_TEXT = 'The workflow was terminated by an operator.';
