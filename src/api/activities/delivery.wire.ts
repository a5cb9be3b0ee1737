import { DomainError } from '../../domain/common/errors.ts';

/** When an operation goes out, as every acting call that can wait has it in its body. */
export interface DeliveryFields {
  deliver_after?: string | null | undefined;
  deliver_delay_window?: number | null | undefined;
  /** The same under another name. */
  deliver_after_window?: number | null | undefined;
  /** Activity that has to succeed on the computer first. */
  after?: number | null | undefined;
}

/** Delivery of a body; null counts as absent. @throws {DomainError} InvalidParameterCombination for two windows */
export function readDeliveryFields(body: DeliveryFields) {
  return {
    deliverAfter: body.deliver_after ?? null,
    windowMinutes: readWindow(body, 'body') ?? 0,
    after: body.after ?? null,
  };
}

/**
 * The window in minutes, under either of its names; null when there is none.
 *
 * @param place - `body` or `query`, for the refusal
 * @throws {DomainError} InvalidParameterCombination when the two names have different values
 */
export function readWindow(fields: DeliveryFields, place: string): number | null {
  const window = fields.deliver_delay_window ?? null;
  const other = fields.deliver_after_window ?? null;
  if (window !== null && other !== null && window !== other) {
    const message = 'must be the same as deliver_delay_window where both are given';
    throw new DomainError('InvalidParameterCombination', `deliver_after_window ${message}`, {
      details: [{ path: `${place}.deliver_after_window`, message }],
    });
  }
  return window ?? other;
}
