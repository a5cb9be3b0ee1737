import type { Client } from '@temporalio/client';
import { WAKE_UP_SIGNAL } from '../../workflows/contracts/batch.contract.ts';
import { ignoreNotFound } from '../ignore-not-found.ts';

/** Signals a batch to process its events; safe to lose or repeat. @returns false when its workflow has ended */
export function sendWakeUp(client: Client, workflowId: string): Promise<boolean> {
  return ignoreNotFound(client.workflow.getHandle(workflowId).signal(WAKE_UP_SIGNAL));
}
