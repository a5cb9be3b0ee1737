import { unreportedPid, unreportedText } from '../../domain/activities/machine-operations.ts';
import type { PerComputerGroupPlan } from '../../persistence/activities/activity-creation.repository.ts';

/** Positions, in id order, of signals to unreported processes, never sent. @see docs/api-conventions.md#processes */
export function unsentSignals({ operations, messages }: Pick<PerComputerGroupPlan, 'operations' | 'messages'>) {
  const pids = messages.map(unreportedPid);
  if (pids.every((pid) => pid === null)) return [];
  const inIdOrder = operations.toSorted((a, b) => a.place - b.place || a.link - b.link);
  return inIdOrder.flatMap(({ message }, step) => {
    const pid = pids[message]!;
    return pid === null ? [] : [{ step, text: unreportedText(pid) }];
  });
}
