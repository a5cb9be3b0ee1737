import { readDelivery } from '../../domain/activities/delivery.ts';
import { type PowerAction, powerOperation } from '../../domain/activities/machine-operations.ts';
import type { BaseActivity } from '../activities/activity-views.ts';
import { type ActingDeps, createAction } from '../activities/computer-actions.ts';
import { requireTargets } from '../activities/targets.ts';
import type { Caller } from '../common/ports.ts';

export interface PowerCommand {
  computerId: number;
  /** ISO 8601; null: immediately. */
  deliverAfter: string | null;
  windowMinutes: number;
  /** Activity that must succeed on each computer first; null for none. */
  after: number | null;
  traceparent: string | null;
}

export interface PowerService {
  /** @throws {DomainError} InvalidParameter, UnknownComputer, Forbidden, ComputerArchived */
  act(caller: Caller, action: PowerAction, command: PowerCommand): Promise<BaseActivity>;
}

export function createPowerService(deps: ActingDeps): PowerService {
  return {
    async act(caller, action, { computerId, deliverAfter, windowMinutes, after, traceparent }) {
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
