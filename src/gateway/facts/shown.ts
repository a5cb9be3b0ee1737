import { BFloat, type BObject, type BValue, isDict } from '../../protocol/bpickle.ts';
import { type Called, called, type Notes } from './faults.ts';
import { isLonger, MalformedMessage, storable, toList, toText } from './fields.ts';

// Readers of values that are only shown, and of lists: what is not as it should be is cut or left out, and noted.

/** Ends text that was cut. */
const CUT = '…';

/** Where a value stands, and whom it is noted with. */
export interface Place {
  /** The field. */
  what: string;
  notes: Notes;
  /** The item it belongs to. */
  item?: Called;
}

/** Text of at most so many characters; longer text is cut and marked. Null when it is absent, none, or no text. */
export function shownText(value: BValue | undefined, max: number, { what, notes, item }: Place): string | null {
  if (value === undefined || value === null) return null;
  const text = value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value;
  if (typeof text !== 'string') {
    notes.skipped(`${what} must be text`, item);
    return null;
  }
  if (!isLonger(text, max)) return storable(text);
  notes.shortened(`${what} is longer than ${max} characters`, item);
  return shorten(storable(text), max);
}

/** At most so many characters, as people count them, the last of which tells that more followed. */
export function shorten(text: string, max: number): string {
  if (!isLonger(text, max)) return text;
  // No character takes more than two units.
  const start = [...text.slice(0, 2 * max)].slice(0, max - 1).join('');
  return `${start.toWellFormed()}${CUT}`;
}

/** A whole number within bounds, without what follows the point. Null when it is absent, none, or no such number. */
export function shownInt(
  value: BValue | undefined,
  [min, max]: readonly [min: number, max: number],
  { what, notes, item }: Place,
): number | null {
  if (value === undefined || value === null) return null;
  const number = value instanceof BFloat ? Math.floor(value.value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) return number;
  notes.skipped(`${what} must be a whole number from ${min} to ${max}`, item);
  return null;
}

/** A boolean. Null when it is absent, none, or neither. */
export function shownBoolean(value: BValue | undefined, { what, notes, item }: Place): boolean | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value;
  notes.skipped(`${what} must be a boolean`, item);
  return null;
}

/** What `read` gives; null, with a note, where it finds nothing that can be stored. */
export function orSkipped<T>(read: () => T, notes: Notes, item?: Called): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    notes.skipped(error.message, item);
    return null;
  }
}

/** How the items of a list are read. */
export interface ItemReading<I, T> {
  /** @throws {MalformedMessage} when the item cannot be stored */
  read(item: I, self: Called): T;
  /** What people recognize the item by. */
  name(item: I): string;
}

/** The items of a list, at most so many, without those that cannot be stored. Absent and none are empty. */
export function readItems<T>(
  value: BValue | undefined,
  max: number,
  { what, notes }: Place,
  { read, name }: ItemReading<BValue, T>,
): T[] {
  const items: T[] = [];
  for (const item of listOf(value, max, { what, notes })) {
    const self = (): string => name(item);
    const result = orSkipped(() => ({ value: read(item, self) }), notes, self);
    if (result) items.push(result.value);
  }
  return items;
}

/** As {@link readItems}, of dicts. */
export function readDicts<T>(
  value: BValue | undefined,
  max: number,
  place: Place,
  { read, name }: ItemReading<BObject, T>,
): T[] {
  return readItems(value, max, place, {
    name: (item) => (isDict(item) ? name(item) : 'an item'),
    read: (item, self) => {
      if (!isDict(item)) throw new MalformedMessage(`${place.what} must be dicts`);
      return read(item, self);
    },
  });
}

/** As {@link readItems}, of names that stand for something and are therefore never cut. */
export function readNames(
  value: BValue | undefined,
  limits: { items: number; length: number },
  place: Place,
): string[] {
  return readItems(value, limits.items, place, {
    name: (item) => called('', item).trim(),
    read: (item) => toText(item, place.what, limits.length),
  });
}

function listOf(value: BValue | undefined, max: number, { what, notes }: Place): readonly BValue[] {
  const items = orSkipped(() => toList(value, what, Number.POSITIVE_INFINITY), notes) ?? [];
  if (items.length <= max) return items;
  notes.skipped(`${what} has more than ${max} items`);
  return items.slice(0, max);
}
