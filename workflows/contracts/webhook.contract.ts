/** Drives the deliveries of one webhook, for as long as it is active. */
export const WEBHOOK_WORKFLOW = 'WebhookDelivery';

export function webhookWorkflowId(webhookId: number): string {
  return `webhook/${webhookId}`;
}

export interface WebhookInput {
  webhook: number;
}

/** Result of a step. */
export interface WebhookProgress {
  state: 'active' | 'paused' | 'ended' | 'deleted';
  /** There is more to do at once. */
  more: boolean;
  /** Milliseconds until a delivery is due again; null without one. */
  waitMs: number | null;
}
