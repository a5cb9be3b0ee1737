import type { ActivitySettings } from '../config.ts';
import { ACTIVITY_GROUP } from '../domain/activity/kinds.ts';
import {
  type SnapAction,
  type SnapEntry,
  snapGroupSummary,
  snapMessage,
  snapOperationSummary,
  snapOperationType,
} from '../domain/activity/snap-actions.ts';
import { readDelivery } from '../domain/delivery.ts';
import { DomainError } from '../domain/errors.ts';
import { parseInstant } from '../domain/instant.ts';
import { readBaseActivity } from '../persistence/repositories/activities.repository.ts';
import { createGroup } from '../persistence/repositories/activity-creation.repository.ts';
import { recordEvent } from '../persistence/repositories/events.repository.ts';
import type { Database } from '../persistence/sql.ts';
import { type BaseActivity, toBaseActivity } from './activity-views.ts';
import type { Caller, Clock } from './ports.ts';
import { requireTargets } from './targets.ts';

/** A request to do one thing with snaps on many computers. */
export interface SnapCommand {
  action: SnapAction;
  /** Repeated ids count once. */
  computerIds: readonly number[];
  snaps: readonly SnapEntry[];
  /** ISO 8601; null: at once. */
  deliverAfter: string | null;
  windowMinutes: number;
  /** W3C trace context of the request. */
  traceparent?: string | null;
}

export interface SnapsService {
  /**
   * Makes one operation per computer, all or none.
   *
   * @returns the group
   * @throws {DomainError} InvalidParameter, UnknownComputer, Forbidden, ComputerArchived
   * @see api-decisions 9.4
   */
  act(caller: Caller, command: SnapCommand): Promise<BaseActivity>;
}

/** Makes the service. */
export function createSnapsService(deps: { db: Database; clock: Clock; settings: ActivitySettings }): SnapsService {
  return {
    async act(caller, command) {
      const now = deps.clock.now();
      const delivery = readDelivery(command.deliverAfter, command.windowMinutes, now, 'body.deliver_after');
      const snaps = checkSnaps(command.action, command.snaps);
      const computers = [...new Set(command.computerIds)];
      const row = await deps.db.transaction(async (tx) => {
        await requireTargets(tx, caller, computers, 'ManageComputer');
        const group = await createGroup(
          tx,
          {
            ...delivery,
            accountId: caller.accountId,
            creatorId: caller.personId,
            type: ACTIVITY_GROUP,
            summary: snapGroupSummary(command.action),
            now,
            computers,
            operations: [operationOf(command.action, snaps)],
            parameters: { operation: 'snaps', action: command.action, snaps },
            traceparent: command.traceparent ?? null,
          },
          deps.settings,
        );
        await recordEvent(tx, caller, {
          entityType: 'Activity',
          entityId: group,
          entityName: snapGroupSummary(command.action),
          message: `${snapOperationSummary(command.action, snaps)} on ${count(computers.length)}`,
        });
        return readBaseActivity(tx, group);
      });
      return toBaseActivity(row, now);
    },
  };
}

function operationOf(action: SnapAction, snaps: readonly SnapEntry[]) {
  return {
    type: snapOperationType(action),
    summary: snapOperationSummary(action, snaps),
    message: snapMessage(action, snaps),
  };
}

function count(computers: number): string {
  return computers === 1 ? '1 computer' : `${computers} computers`;
}

function checkSnaps(action: SnapAction, snaps: readonly SnapEntry[]): SnapEntry[] {
  const names = new Set<string>();
  return snaps.map((snap, index) => {
    if (names.has(snap.name)) throw refuse(`body.snaps[${index}].name`, `${snap.name} is named twice`);
    names.add(snap.name);
    if (action !== 'hold' || snap.time === undefined || snap.time === 'forever') return snap;
    const until = parseInstant(snap.time);
    if (!until) throw refuse(`body.snaps[${index}].time`, 'must be "forever" or an ISO 8601 date and time');
    return { ...snap, time: `${until.toISOString().slice(0, 19)}Z` };
  });
}

function refuse(path: string, message: string): DomainError {
  return new DomainError('InvalidParameter', `${path.replace('body.', '')}: ${message}`, {
    details: [{ path, message }],
  });
}
