export {
  activityWorkflowId,
  parseActivityWorkflowId,
  parseWorkflowOwner,
} from '../../src/domain/activities/workflow-id.ts';

export interface ActivityInput {
  /** Id of the parent activity row. */
  id: number;
  /** Passed on to its batches. See {@link LaneInput}. */
  continueAfterEvents?: number;
}

/** How the operations of a closed group ended. */
export interface ActivityResult {
  succeeded: number;
  failed: number;
  canceled: number;
}
