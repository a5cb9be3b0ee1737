import { MAX_INT4 } from '../common/integers.ts';
import type { SelectorValue } from './parser.ts';

const MAX_DAYS = 2_900_000;

/** One of some words. @throws {DomainError} InvalidQueryError */
export function readWord<W extends string>(value: SelectorValue, words: readonly W[]): W {
  const word = words.find((candidate) => candidate === value.text);
  if (word === undefined) throw value.expected(`one of ${words.join(', ')}`);
  return word;
}

/** An id; 0, which does not exist, if it is too large. @throws {DomainError} InvalidQueryError */
export function readId(value: SelectorValue, text = value.text): number {
  if (!isDigits(text)) throw value.expected('a non-negative integer');
  return idOrNobody(text);
}

/** The id in a text; 0, which is never an id, if it contains none. */
export function idOrNobody(text: string): number {
  const id = isDigits(text) ? Number(text) : 0;
  return id > MAX_INT4 ? 0 : id;
}

/** A number of days. @throws {DomainError} InvalidQueryError */
export function readDays(value: SelectorValue): number {
  if (!isDigits(value.text)) throw value.expected('a non-negative integer');
  return Math.min(Number(value.text), MAX_DAYS);
}

const TRUE = ['true', '1', 'yes', 'on'];
const FALSE = ['false', '0', 'no', 'off'];

/** A Boolean word in any case. @throws {DomainError} InvalidQueryError */
export function readTruth(value: SelectorValue): boolean {
  const word = value.text.toLowerCase();
  if (TRUE.includes(word)) return true;
  if (FALSE.includes(word)) return false;
  throw value.expected(`one of ${[...TRUE, ...FALSE].join(', ')}`);
}

function isDigits(text: string): boolean {
  return /^[0-9]+$/.test(text);
}
