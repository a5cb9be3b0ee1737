import {
  type ProcessSignal,
  signalOperation,
  signalSummary,
  unreportedText,
} from '../../domain/activities/machine-operations.ts';
import { findSignalTargets, listProcesses } from '../../persistence/computers/processes.repository.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import { type ActingDeps, type ActionRequest, createAction } from '../activities/computer-actions.ts';
import { requireTargets, requireVisible } from '../activities/targets.ts';
import type { Caller } from '../common/ports.ts';
import { failUnsent } from '../../persistence/engine/pending-events.sql.ts';

export interface SignalCommand extends Pick<ActionRequest, 'after' | 'traceparent'> {
  computerId: number;
  pids: readonly number[];
}

export type ProcessesService = ReturnType<typeof createProcessesService>;

export function createProcessesService(deps: ActingDeps) {
  return {
    /** One page of the reported processes, by number. @throws {DomainError} UnknownComputer */
    async list(caller: Caller, computer: number, page: PageRequest) {
      await requireVisible(deps.db, caller, [computer]);
      return listProcesses(deps.db, computer, page);
    },
    /**
     * Signals to unreported processes fail unsent: without name and start time they could hit another process.
     * @throws {DomainError} UnknownComputer, Forbidden, ComputerArchived @see docs/api-conventions.md#processes
     */
    async signal(caller: Caller, signal: ProcessSignal, { computerId, pids, after, traceparent }: SignalCommand) {
      const now = deps.clock.now();
      return deps.db.transaction(async (tx) => {
        await requireTargets(tx, caller, [computerId], 'ManageComputer');
        const targets = await findSignalTargets(tx, computerId, [...new Set(pids)]);
        const summary = signalSummary(signal, targets);
        const plan = {
          computers: [computerId],
          after,
          summary,
          operations: targets.map((target) => signalOperation(signal, target)),
          parameters: { operation: 'processes', signal, pids: targets.map(({ pid }) => pid) },
          deliverAfter: null,
          windowMinutes: 0,
          traceparent,
          event: `${summary} on computer ${computerId}`,
        };
        const activity = await createAction(tx, caller, plan, { now, settings: deps.settings });
        const unreported = targets.flatMap(({ pid, startTime }, index) =>
          startTime === null ? [{ index, text: unreportedText(pid) }] : [],
        );
        await failUnsent(tx, activity.id, unreported, now);
        return activity;
      });
    },
  };
}
