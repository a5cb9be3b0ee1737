import { WorkflowNotFoundError } from '@temporalio/client';

/**
 * Waits for a call that needs an open workflow.
 * @returns false when the workflow has ended or is not there
 * @throws whatever else the call fails with
 */
export async function ignoreNotFound(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
