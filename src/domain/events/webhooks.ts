import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../common/durations.ts';

/** `paused` by an administrator or after days of failure, `ended` by the receiver. */
export type WebhookStatus = 'active' | 'paused' | 'ended';

/** `failed`: it is not tried again. */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/** Why there is a delivery: a new event, a replay of events, or a test. */
export type DeliveryKind = 'event' | 'replay' | 'test';

/** The type of the event that a test sends; it is not in the feed. */
export const TEST_EVENT = 'webhook.test';

export const MAX_WEBHOOKS = 100;

/** How long the previous secret signs as well. */
export const PREVIOUS_SECRET_MS = DAY_MS;

/** A webhook to which nothing could be delivered for so long is paused. */
export const PAUSED_AFTER_MS = 5 * DAY_MS;

const RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  15 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  DAY_MS,
] as const;

const JITTER = 0.1;

/**
 * Milliseconds from a failed attempt to the next. @param attempts - made so far, at least 1 @param random - 0 to 1, spreads
 * deliveries that failed together @param retryAfterMs - what the receiver requests, up to a day
 */
export function retryDelay(attempts: number, random: number, retryAfterMs = 0): number {
  const delay = RETRY_DELAYS_MS[Math.min(attempts, RETRY_DELAYS_MS.length) - 1]!;
  return Math.max(delay * (1 + JITTER * random), Math.min(retryAfterMs, DAY_MS));
}
