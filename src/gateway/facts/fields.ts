import { isInvalidData } from '../../persistence/database/errors.ts';
import { BFloat, type BObject, BTuple, type BValue, isDict } from '../../protocol/bpickle.ts';

/** A message or a part of it does not match its type. It is consumed and recorded; the exchange continues. */
export class MalformedMessage extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MalformedMessage';
  }
}

/** Whether a message can never be stored, as opposed to a temporary failure. */
export function isUnstorable(error: unknown): boolean {
  return error instanceof MalformedMessage || isInvalidData(error);
}

const MAX_TEXT = 1024 * 1024;

/** Text, also from byte strings (UTF-8), without NUL characters and lone surrogates: PostgreSQL cannot store them. */
export function toText(value: BValue | undefined, what: string, maxLength = MAX_TEXT): string {
  const text = value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value;
  if (typeof text !== 'string') throw new MalformedMessage(`${what} must be text`);
  if (isLonger(text, maxLength)) throw new MalformedMessage(`${what} is longer than ${maxLength} characters`);
  return sanitizeText(text);
}

/** Counts code points, but only where their number decides. */
export function isLonger(text: string, maxLength: number): boolean {
  return text.length > maxLength && (text.length > 2 * maxLength || [...text].length > maxLength);
}

/** As {@link toText}; null if absent. */
export function toTextOrNull(value: BValue | undefined, what: string, maxLength = MAX_TEXT): string | null {
  return value === undefined || value === null ? null : toText(value, what, maxLength);
}

/** Removes characters that PostgreSQL cannot store in text. */
export function sanitizeText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes('\0') ? whole.replaceAll('\0', '') : whole;
}

/** A whole number within bounds; whole floats are accepted. */
export function toInt(value: BValue | undefined, what: string, min: number, max: number): number {
  const number = value instanceof BFloat ? value.value : value;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < min || number > max) {
    throw new MalformedMessage(`${what} must be a whole number from ${min} to ${max}`);
  }
  return number;
}

/** Any finite number; null for anything else. */
export function toNumberOrNull(value: BValue | undefined): number | null {
  const number = value instanceof BFloat ? value.value : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

export function toBoolean(value: BValue | undefined, what: string): boolean {
  if (typeof value !== 'boolean') throw new MalformedMessage(`${what} must be a boolean`);
  return value;
}

/** A list or tuple; empty if absent. */
export function toList(value: BValue | undefined, what: string, maxItems: number): readonly BValue[] {
  if (value === undefined || value === null) return [];
  const items = value instanceof BTuple ? value.items : value;
  if (!Array.isArray(items)) throw new MalformedMessage(`${what} must be a list`);
  if (items.length > maxItems) throw new MalformedMessage(`${what} has too many items`);
  return items;
}

export function toDict(value: BValue | undefined, what: string): BObject {
  if (!isDict(value)) throw new MalformedMessage(`${what} must be a dict`);
  return value;
}
