import type { Client } from '@temporalio/client';
import type { LaneStore } from '../../src/persistence/repositories/lanes.repository.ts';
import type { LaneActivities } from '../../workflows/contracts/activities.ts';
import { requestCancelOf } from './request-cancel.ts';

/** The steps of `activity` and `lane` over the lane store; each is harmless when run again. */
export function createLaneActivities(deps: { lanes: LaneStore; client: Client }): LaneActivities {
  const { lanes, client } = deps;
  return {
    advance: (lane, cancelAll) => lanes.advance(lane, cancelAll),
    begin: (activity) => lanes.begin(activity),
    settle: (activity, cancelAll) => lanes.settle(activity, cancelAll),
    requestCancel: requestCancelOf(client),
  };
}
