import type { BatchResult } from './batch.contract.ts';

export {
  activityWorkflowId,
  parseActivityWorkflowId,
  parseWorkflowOwner,
} from '../../src/domain/activities/workflow-id.ts';

export interface GroupInput {
  /** Id of the group's row. */
  id: number;
}

/** How the operations of a closed group ended. */
export type GroupResult = BatchResult;
