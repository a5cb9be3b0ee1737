import { Context } from '@temporalio/activity';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { cancelRunWith } from '../../../temporal/client/workflow-calls.ts';
import type {
  BatchPlan,
  BatchProgress,
  CancelActivities,
  EngineActivities,
  GroupOperation,
  GroupProgress,
  OperationActivities,
  ProfileActivities,
  ReportActivities,
  ReportCloseActivities,
} from '../../../workflows/contracts/activities.ts';

type Outcome = 'succeeded' | 'failed' | 'canceled';

interface FakeBatch extends BatchPlan {
  outcomes: Map<number, Outcome | null>;
  pending: Array<{ row: number; outcome: Outcome }>;
  opened: boolean;
  dueAt: number | null;
  /** What falls due then: every open row ends so. */
  dueOutcome: Outcome | null;
}

/**
 * The batch store in memory: the same promises as the real one (reads its rows, first result wins, a result
 * replaces `canceled`), with the database taken away on demand.
 */
export class FakeBatches {
  readonly calls: string[] = [];
  /** So many calls fail from now on. */
  failures = 0;
  failureText = 'connection refused';
  /** What they fail with instead. */
  failure: Error | null = null;
  /** Time of the environment; never the wall clock, which time skipping leaves behind. */
  now: () => Promise<number> = async () => Date.now();
  readonly #batches = new Map<number, FakeBatch>();

  /** Adds a batch of `size` rows. */
  add(batch: number, size: number, plan: Partial<BatchPlan> = {}): void {
    this.#batches.set(batch, {
      batch,
      workflowId: `activity/${batch}`,
      single: size === 1,
      summary: `computers 1-${size} of ${size}`,
      size,
      computer: size === 1 ? { id: batch, title: `web-${batch}` } : null,
      ...plan,
      outcomes: new Map(Array.from({ length: size }, (_, row) => [row, null])),
      pending: [],
      opened: false,
      dueAt: null,
      dueOutcome: null,
    });
  }

  /** Adds pending events to the inbox; the caller wakes it, or not. */
  report(batch: number, row: number, outcome: Outcome): void {
    this.#batch(batch).pending.push({ row, outcome });
  }

  /** Ends every open row of the batch with `outcome` at `at`; with null the batch only looks then. */
  due(batch: number, at: number, outcome: Outcome | null): void {
    Object.assign(this.#batch(batch), { dueAt: at, dueOutcome: outcome });
  }

  /** What is in the rows, beside any workflow. */
  progress(batch: number): BatchProgress {
    const { outcomes, dueAt } = this.#batch(batch);
    const count = (outcome: Outcome | null) => [...outcomes.values()].filter((value) => value === outcome).length;
    const open = count(null);
    const rows = [...outcomes].filter(([, outcome]) => outcome === null);
    return {
      open,
      succeeded: count('succeeded'),
      failed: count('failed'),
      canceled: count('canceled'),
      nextDueAt: open === 0 ? null : dueAt,
      waitingFor: rows.slice(0, 3).map(([row]) => `web-${row}`),
      operations: rows.map(([row]) => ({ computer: `web-${row}`, operation: row, waitsFor: 'delivery' })),
    };
  }

  /** As a worker registers them. `group` maps an activity to its batches. */
  activities(client: Client, group: readonly number[] = []): EngineActivities & OperationActivities & CancelActivities {
    const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      this.calls.push(name);
      if (this.failures > 0) {
        this.failures -= 1;
        throw this.failure ?? Object.assign(new Error(this.failureText), { stack: this.failureText });
      }
      return await work();
    };
    const cancelRun = cancelRunWith(client);
    const operation = (name: string, cancelAll: boolean) => (input: { batch: number }) =>
      step(name, () => this.#advance(input.batch, cancelAll));
    return {
      queueMessage: operation('queueMessage', false),
      recordReport: operation('recordReport', false),
      processDueTime: operation('processDueTime', false),
      cancelOperations: operation('cancelOperations', true),
      processPendingEvents: ({ batch, cancelAll }) =>
        step('processPendingEvents', () => this.#advance(batch, cancelAll)),
      listOpenBatches: () => step('listOpenBatches', async () => this.#open(group)),
      getGroupProgress: ({ cancelAll }) => step('getGroupProgress', () => this.#readProgress(client, group, cancelAll)),
      cancelRun: (input) => step('cancelRun', () => cancelRun(input)),
    };
  }

  async #advance(id: number, cancelAll: boolean): Promise<BatchProgress> {
    const batch = this.#batch(id);
    batch.opened = true;
    for (const { row, outcome } of batch.pending.splice(0)) {
      const current = batch.outcomes.get(row);
      if (current === null || (current === 'canceled' && outcome !== 'canceled')) batch.outcomes.set(row, outcome);
    }
    const overdue = batch.dueAt !== null && batch.dueAt <= (await this.now());
    if (overdue) batch.dueAt = null;
    const end = overdue ? batch.dueOutcome : cancelAll ? 'canceled' : null;
    if (end) for (const [row, outcome] of batch.outcomes) if (outcome === null) batch.outcomes.set(row, end);
    return this.progress(id);
  }

  async #readProgress(client: Client, group: readonly number[], cancelAll: boolean): Promise<GroupProgress> {
    if (cancelAll) for (const batch of this.#open(group)) await this.#cancel(client, batch);
    const sum = { open: 0, succeeded: 0, failed: 0, canceled: 0 };
    const operations = group.flatMap((batch) => this.#operations(batch));
    for (const batch of group) {
      const progress = this.progress(batch);
      for (const key of ['open', 'succeeded', 'failed', 'canceled'] as const) sum[key] += progress[key];
    }
    return {
      ...sum,
      ...(operations.length > 0 && { operations }),
      status: sum.open > 0 ? 'open' : sum.failed > 0 ? 'failed' : sum.canceled > 0 ? 'canceled' : 'succeeded',
    };
  }

  /** Includes the dispatcher's part: the cancel reaches an opened batch, whichever run drives it. */
  async #cancel(client: Client, { batch, workflowId }: BatchPlan): Promise<void> {
    if (!this.#batch(batch).opened) {
      await this.#advance(batch, true);
      return;
    }
    try {
      await client.workflow.getHandle(workflowId).cancel();
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }

  #open(group: readonly number[]): BatchPlan[] {
    return group
      .filter((batch) => this.progress(batch).open > 0)
      .map((id) => {
        const { batch, workflowId, single, summary, size = 1, computers = size, computer = null } = this.#batch(id);
        return { batch, workflowId, single, summary, size, computers, computer, operations: this.#operations(id) };
      });
  }

  #operations(id: number): GroupOperation[] {
    const { workflowId, opened } = this.#batch(id);
    const waitsFor = opened ? 'result' : 'delivery';
    return this.progress(id).operations!.map((operation) => ({ ...operation, waitsFor, workflowId }));
  }

  #batch(id: number): FakeBatch {
    const batch = this.#batches.get(id);
    if (!batch) throw new Error(`no batch ${id}`);
    return batch;
  }
}

/** The kinds of profiles in memory: at most one run per date, with the database taken away on demand. */
export class FakeProfiles {
  readonly calls: string[] = [];
  /** Dates that have a run, by profile. */
  readonly runs = new Set<string>();
  /** So many calls fail from now on. */
  failures = 0;

  /** As a worker registers them. */
  activities(): ProfileActivities {
    const step = async <T>(name: string, work: () => T): Promise<T> => {
      this.calls.push(name);
      if (this.failures > 0) {
        this.failures -= 1;
        throw Object.assign(new Error('connection refused'), { stack: 'connection refused' });
      }
      return work();
    };
    return {
      startRun: ({ kind, profileId, scheduledTime }) =>
        step('startRun', () => {
          const run = `${kind}/${profileId} ${scheduledTime}`;
          if (this.runs.has(run)) return { outcome: 'known' };
          this.runs.add(run);
          return { outcome: 'started', activity: this.runs.size };
        }),
      extendSchedule: () => step('extendSchedule', () => ({ planned: [] })),
    };
  }
}

/** Steps of `reportActivity` without a database. */
export class FakeReports {
  /** How the next report goes. */
  outcome: 'succeeded' | 'fails' | 'never ends' | 'canceled meanwhile' = 'succeeded';
  /** Reports that were started. */
  started = 0;
  /** How reports ended without a file. */
  readonly ends: string[] = [];

  activities(client: Client): ReportActivities & ReportCloseActivities & CancelActivities {
    return {
      writeReport: async () => {
        this.started += 1;
        if (this.outcome === 'fails') throw ApplicationFailure.nonRetryable('no room');
        if (this.outcome === 'canceled meanwhile') return 'canceled';
        if (this.outcome === 'never ends') await beatUntilCancelled();
        return 'succeeded';
      },
      closeReport: async ({ status }) => {
        this.ends.push(status);
        return status;
      },
      cancelRun: cancelRunWith(client),
    };
  }
}

async function beatUntilCancelled(): Promise<void> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), 500);
  await context.cancelled.finally(() => clearInterval(beat));
}
