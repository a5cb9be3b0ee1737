import { DomainError } from '../common/errors.ts';
import { parseInstant } from '../common/instant.ts';

export interface Delivery {
  /** Earliest moment; null means immediately. */
  deliverAfter: Date | null;
  /** Each computer adds a random delay of up to this many minutes. */
  windowMinutes: number;
}

/** Later moments would exceed the year 9999 once the longest window is added. */
const LATEST = Date.UTC(9999, 11, 30);

/** @throws {DomainError} InvalidParameter unless in the future @see docs/api-conventions.md#delivery-parameters */
export function readDelivery(text: string | null, windowMinutes: number, now: Date, path: string): Delivery {
  if (text === null) return { deliverAfter: null, windowMinutes };
  const deliverAfter = parseInstant(text);
  if (!deliverAfter || deliverAfter.getTime() > LATEST) throw invalid(path, 'must be an ISO 8601 date and time');
  if (deliverAfter <= now) throw invalid(path, 'must be in the future');
  return { deliverAfter, windowMinutes };
}

function invalid(path: string, message: string): DomainError {
  const name = path.slice(path.lastIndexOf('.') + 1);
  return new DomainError('InvalidParameter', `${name} ${message}`, { details: [{ path, message }] });
}
