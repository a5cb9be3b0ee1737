import { readDelivery } from '../../domain/activities/delivery.ts';
import { type PowerAction, powerOperation } from '../../domain/activities/machine-operations.ts';
import { type ActingDeps, type ActionRequest, createAction } from '../activities/computer-actions.ts';
import { requireTargets } from '../activities/targets.ts';
import type { Caller } from '../common/ports.ts';

export function createPowerService(deps: ActingDeps) {
  return {
    /** @throws {DomainError} InvalidParameter, UnknownComputer, Forbidden, ComputerArchived */
    async act(caller: Caller, action: PowerAction, command: ActionRequest & { computerId: number }) {
      const { computerId, deliverAfter, windowMinutes, after, traceparent } = command;
      const now = deps.clock.now();
      const delivery = readDelivery(deliverAfter, windowMinutes, now, 'body.deliver_after');
      const operation = powerOperation(action);
      return deps.db.transaction(async (tx) => {
        await requireTargets(tx, caller, [computerId], 'ManageComputer');
        const plan = {
          ...delivery,
          computers: [computerId],
          after,
          summary: operation.summary,
          operations: [operation],
          parameters: { operation: 'power', action },
          traceparent,
          event: `${operation.summary} ${computerId}`,
        };
        return createAction(tx, caller, plan, { now, settings: deps.settings });
      });
    },
  };
}
