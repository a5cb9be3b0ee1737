import { readDelivery } from '../../domain/activities/delivery.ts';
import {
  type SnapAction,
  type SnapEntry,
  snapGroupSummary,
  snapMessage,
  snapOperationSummary,
  snapOperationType,
} from '../../domain/activities/snap-actions.ts';
import { computersText } from '../../domain/activities/summary.ts';
import { parseInstant } from '../../domain/common/instant.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import { listInstalledSnaps } from '../../persistence/software/installed-snaps.repository.ts';
import { type ActingDeps, type ActionRequest, createAction } from '../activities/computer-actions.ts';
import { requireTargets, requireVisible } from '../activities/targets.ts';
import { fieldErrors } from '../common/fields.ts';
import type { Caller } from '../common/ports.ts';

export interface SnapCommand extends ActionRequest {
  action: SnapAction;
  computerIds: readonly number[];
  snaps: readonly SnapEntry[];
}

export type SnapsService = ReturnType<typeof createSnapsService>;

export function createSnapsService(deps: ActingDeps) {
  return {
    /** One page of the reported snaps. @throws {DomainError} UnknownComputer */
    async installed(caller: Caller, computer: number, page: PageRequest) {
      await requireVisible(deps.db, caller, [computer]);
      return listInstalledSnaps(deps.db, computer, page);
    },
    /**
     * One operation per computer, all or none. Returns the group. @throws {DomainError} InvalidParameter,
     * UnknownComputer, UnknownActivity, Forbidden, ComputerArchived @see docs/api-conventions.md#snaps
     */
    async act(caller: Caller, command: SnapCommand) {
      const { action, deliverAfter, windowMinutes, after, traceparent } = command;
      const now = deps.clock.now();
      const delivery = readDelivery(deliverAfter, windowMinutes, now, 'body.deliver_after');
      const snaps = checkSnaps(action, command.snaps);
      const computers = [...new Set(command.computerIds)];
      const summary = snapOperationSummary(action, snaps);
      return deps.db.transaction(async (tx) => {
        await requireTargets(tx, caller, computers, 'ManageComputer');
        const plan = {
          ...delivery,
          computers,
          after,
          summary: snapGroupSummary(action),
          operations: [{ type: snapOperationType(action), summary, message: snapMessage(action, snaps) }],
          parameters: { operation: 'snaps', action, snaps },
          traceparent,
          event: `${summary} on ${computersText(computers.length)}`,
        };
        return createAction(tx, caller, plan, { now, settings: deps.settings });
      });
    },
  };
}

function checkSnaps(action: SnapAction, snaps: readonly SnapEntry[]): SnapEntry[] {
  const names = new Set<string>();
  const errors: Array<{ path: string; message: string }> = [];
  const checked = snaps.map((snap, index) => {
    if (names.has(snap.name)) errors.push({ path: `body.snaps.${index}.name`, message: `${snap.name} is named twice` });
    names.add(snap.name);
    if (action !== 'hold' || snap.time === undefined || snap.time === 'forever') return snap;
    const until = parseInstant(snap.time);
    if (until) return { ...snap, time: `${until.toISOString().slice(0, 19)}Z` };
    errors.push({ path: `body.snaps.${index}.time`, message: 'must be "forever" or an ISO 8601 date and time' });
    return snap;
  });
  if (errors.length > 0) throw fieldErrors(errors);
  return checked;
}
