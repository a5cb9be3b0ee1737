import { DomainError } from '../../domain/common/errors.ts';
import type { ActingQuery } from '../../services/query/computer-queries.ts';
import type { Schemas } from '../http/handler.ts';

/** @throws {DomainError} InvalidParameterCombination for two different windows */
export function readDeliveryFields(body: Schemas['DeliveryRequest']) {
  return {
    deliverAfter: body.deliver_after ?? null,
    windowMinutes: readWindow(body, 'body') ?? 0,
    after: body.after ?? null,
  };
}

/** The window in minutes, by either name; null when absent. @throws {DomainError} InvalidParameterCombination for two */
export function readWindow(fields: Schemas['DeliveryRequest'], place: 'body' | 'query'): number | null {
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

/** `searches` maps saved searches of the query to the texts that the client has seen. */
export function readActingQuery({ query, searches }: Omit<Schemas['ComputerTags'], 'tags'>): ActingQuery {
  return { text: query, seen: new Map(Object.entries(searches ?? {})) };
}
