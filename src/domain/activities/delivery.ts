import { DomainError } from '../common/errors.ts';
import { parseInstant } from '../common/instant.ts';

/** When an operation goes out. */
export interface Delivery {
  /** Earliest moment; null: at once. */
  deliverAfter: Date | null;
  /** Each computer waits a uniform random time of at most this many minutes on top. */
  windowMinutes: number;
}

/** Moments that cannot be written with four digits of year once the longest window is added are refused. */
const LATEST = Date.UTC(9999, 11, 30);

/**
 * Reads the delivery parameters of a request.
 * @param text - ISO 8601; null when not given
 * @param path - where it stood, for the refusal
 * @throws {DomainError} InvalidParameter when it is no moment or not in the future
 * @see docs/api-conventions.md#delivery-parameters
 */
export function readDelivery(text: string | null, windowMinutes: number, now: Date, path: string): Delivery {
  if (text === null) return { deliverAfter: null, windowMinutes };
  const deliverAfter = parseInstant(text);
  if (!deliverAfter || deliverAfter.getTime() > LATEST) throw refuse(path, 'must be an ISO 8601 date and time');
  if (deliverAfter <= now) throw refuse(path, 'must be in the future');
  return { deliverAfter, windowMinutes };
}

function refuse(path: string, message: string): DomainError {
  const name = path.slice(path.lastIndexOf('.') + 1);
  return new DomainError('InvalidParameter', `${name} ${message}`, { details: [{ path, message }] });
}
