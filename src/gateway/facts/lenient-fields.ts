import { BFloat, type BObject, type BValue, isDict } from '../../protocol/bpickle.ts';
import { describeItem, type ItemName, type MessageFaults } from './faults.ts';
import { isLonger, MalformedMessage, sanitizeText, toList, toText } from './fields.ts';

// Readers of lists and display values. They truncate or omit invalid values and record a fault.

const ELLIPSIS = '…';

interface FieldContext {
  what: string;
  faults: MessageFaults;
  item?: ItemName;
}

/** Truncates longer text. Null if absent or not text. */
export function lenientText(value: BValue | undefined, max: number, { what, faults, item }: FieldContext) {
  if (value === undefined || value === null) return null;
  const text = value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value;
  if (typeof text !== 'string') {
    faults.skipped(`${what} must be text`, item);
    return null;
  }
  if (!isLonger(text, max)) return sanitizeText(text);
  faults.shortened(`${what} is longer than ${max} characters`, item);
  return shorten(sanitizeText(text), max);
}

/** Truncates text to a number of characters including a final ellipsis. */
export function shorten(text: string, max: number): string {
  if (!isLonger(text, max)) return text;
  // No character has more than two UTF-16 units.
  const start = [...text.slice(0, 2 * max)].slice(0, max - 1).join('');
  return `${start.toWellFormed()}${ELLIPSIS}`;
}

/** A whole number within bounds; fractions are dropped. Null if absent or invalid. */
export function lenientInt(
  value: BValue | undefined,
  [min, max]: readonly [min: number, max: number],
  { what, faults, item }: FieldContext,
): number | null {
  if (value === undefined || value === null) return null;
  const number = value instanceof BFloat ? Math.floor(value.value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) return number;
  faults.skipped(`${what} must be a whole number from ${min} to ${max}`, item);
  return null;
}

/** Null if absent or not a boolean. */
export function lenientBoolean(value: BValue | undefined, { what, faults, item }: FieldContext): boolean | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value;
  faults.skipped(`${what} must be a boolean`, item);
  return null;
}

/** The result of `read`; null, with a fault, if it throws {@link MalformedMessage}. */
export function readOrSkip<T>(read: () => T, faults: MessageFaults, item?: ItemName): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    faults.skipped(error.message, item);
    return null;
  }
}

interface ItemReader<I, T> {
  read(item: I, itemName: ItemName): T;
  name(item: I): string;
}

/** Reads up to `max` items of a list and omits invalid ones. An absent list is empty. */
export function readItems<T>(
  value: BValue | undefined,
  what: string,
  max: number,
  faults: MessageFaults,
  { read, name }: ItemReader<BValue, T>,
): T[] {
  const items: T[] = [];
  for (const item of listOf(value, what, max, faults)) {
    const itemName = (): string => name(item);
    const result = readOrSkip(() => ({ value: read(item, itemName) }), faults, itemName);
    if (result) items.push(result.value);
  }
  return items;
}

/** As {@link readItems}, of dicts. */
export function readDicts<T>(
  value: BValue | undefined,
  what: string,
  max: number,
  faults: MessageFaults,
  { read, name }: ItemReader<BObject, T>,
): T[] {
  return readItems(value, what, max, faults, {
    name: (item) => (isDict(item) ? name(item) : 'an item'),
    read: (item, itemName) => {
      if (!isDict(item)) throw new MalformedMessage(`${what} must be dicts`);
      return read(item, itemName);
    },
  });
}

/** As {@link readItems}, of names, which must not be truncated. */
export function readNames(
  value: BValue | undefined,
  limits: { items: number; length: number },
  { what, faults }: FieldContext,
): string[] {
  return readItems(value, what, limits.items, faults, {
    name: (item) => describeItem('', item).trim(),
    read: (item) => toText(item, what, limits.length),
  });
}

function listOf(value: BValue | undefined, what: string, max: number, faults: MessageFaults): readonly BValue[] {
  const items = readOrSkip(() => toList(value, what, Number.POSITIVE_INFINITY), faults) ?? [];
  if (items.length <= max) return items;
  faults.skipped(`${what} has more than ${max} items`);
  return items.slice(0, max);
}
