import {
  type ProcessSignal,
  signalOperation,
  signalSummary,
  unreportedText,
} from '../../domain/activities/machine-operations.ts';
import { findSignalTargets, listProcesses, type ProcessRow } from '../../persistence/computers/processes.repository.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import { failUnsent } from '../../persistence/activities/unsent-operations.repository.ts';
import type { BaseActivity } from '../activities/activity-views.ts';
import { type ActingDeps, createAction } from '../activities/computer-actions.ts';
import { requireTargets, requireVisible } from '../activities/targets.ts';
import type { Caller } from '../common/ports.ts';

export interface SignalCommand {
  computerId: number;
  /** May repeat. */
  pids: readonly number[];
  /** Activity that must succeed on each computer first; null for none. */
  after: number | null;
  traceparent: string | null;
}

export interface ProcessesService {
  /** One page of the reported processes, by number. @throws {DomainError} UnknownComputer */
  list(caller: Caller, computer: number, page: PageRequest): Promise<{ count: number; rows: ProcessRow[] }>;
  /**
   * Sends a signal to processes, one operation each. For a process that the computer did not report, the operation
   * fails unsent: without name and start time it could hit another process.
   * @throws {DomainError} UnknownComputer, Forbidden, ComputerArchived
   * @see docs/api-conventions.md#processes
   */
  signal(caller: Caller, signal: ProcessSignal, command: SignalCommand): Promise<BaseActivity>;
}

export function createProcessesService(deps: ActingDeps): ProcessesService {
  return {
    async list(caller, computer, page) {
      await requireVisible(deps.db, caller, [computer]);
      return listProcesses(deps.db, computer, page);
    },
    async signal(caller, signal, { computerId, pids, after, traceparent }) {
      const now = deps.clock.now();
      return deps.db.transaction(async (tx) => {
        await requireTargets(tx, caller, [computerId], 'ManageComputer');
        const targets = await findSignalTargets(tx, computerId, [...new Set(pids)]);
        const summary = signalSummary(signal, targets);
        const activity = await createAction(
          tx,
          caller,
          {
            computers: [computerId],
            after,
            summary,
            operations: targets.map((target) => signalOperation(signal, target)),
            parameters: { operation: 'processes', signal, pids: targets.map(({ pid }) => pid) },
            deliverAfter: null,
            windowMinutes: 0,
            traceparent,
            event: `${summary} on computer ${computerId}`,
          },
          { now, settings: deps.settings },
        );
        const unreported = targets.flatMap(({ pid, startTime }, step) =>
          startTime === null ? [{ step, text: unreportedText(pid) }] : [],
        );
        await failUnsent(tx, activity.id, unreported, now);
        return activity;
      });
    },
  };
}
