import { DomainError } from '../../domain/common/errors.ts';
import type { ActingQuery } from '../../services/query/computer-queries.ts';

/** Delivery fields of a body. */
export interface DeliveryFields {
  deliver_after?: string | null | undefined;
  deliver_delay_window?: number | null | undefined;
  /** Alias of `deliver_delay_window`. */
  deliver_after_window?: number | null | undefined;
  /** Activity that must succeed on the computer first. */
  after?: number | null | undefined;
}

/** @throws {DomainError} InvalidParameterCombination for two different windows */
export function readDeliveryFields(body: DeliveryFields) {
  return {
    deliverAfter: body.deliver_after ?? null,
    windowMinutes: readWindow(body, 'body') ?? 0,
    after: body.after ?? null,
  };
}

/**
 * The window in minutes; null when absent.
 * @param place - `body` or `query`, for error messages
 * @throws {DomainError} InvalidParameterCombination for two different windows
 */
export function readWindow(fields: DeliveryFields, place: string): number | null {
  const window = fields.deliver_delay_window ?? null;
  const other = fields.deliver_after_window ?? null;
  if (window !== null && other !== null && window !== other) {
    const message = 'must equal deliver_delay_window when both are given';
    throw new DomainError('InvalidParameterCombination', `deliver_after_window ${message}`, {
      details: [{ path: `${place}.deliver_after_window`, message }],
    });
  }
  return window ?? other;
}

interface QueryFields {
  query: string;
  searches?: Readonly<Record<string, string>> | null;
}

export function readActingQuery({ query, searches }: QueryFields): ActingQuery {
  return { text: query, seen: new Map(Object.entries(searches ?? {})) };
}
