import { WorkflowNotFoundError } from '@temporalio/client';

/**
 * Awaits a call that needs an open workflow.
 * @returns false when the workflow has ended or does not exist
 * @throws any other error of the call
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
