export { laneWorkflowId } from '../../src/domain/activity/workflow-id.ts';

/** Workflow type of a lane: drives a set of sibling operations, one or thousands. */
export const LANE_WORKFLOW = 'lane';

export interface LaneInput {
  /** Id of the lane row. */
  lane: number;
  /** True when the lane holds one computer's operations: it then fails and cancels as its row does. */
  single: boolean;
}

/** Signal without payload: news of this lane waits in the inbox. Lost, doubled and late ones are harmless. */
export const NUDGE_SIGNAL = 'nudge';
