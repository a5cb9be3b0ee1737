export { laneWorkflowId } from '../../src/domain/activity/workflow-id.ts';

/** Workflow type of a lane: drives a set of sibling operations, one or thousands. */
export const LANE_WORKFLOW = 'lane';

export interface LaneInput {
  /** Id of the lane row. */
  lane: number;
  /** True when the lane holds one computer's operations: it then fails and cancels as its row does. */
  single: boolean;
  /** Continue as new once the history has this many events; without it when the server suggests so. */
  continueAfterEvents?: number;
}

/** How the operations of a closed lane ended. */
export interface LaneResult {
  succeeded: number;
  failed: number;
  canceled: number;
}

/** Signal without payload: news of this lane waits in the inbox. Lost, doubled and late ones are harmless. */
export const NUDGE_SIGNAL = 'nudge';
