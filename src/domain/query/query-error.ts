import { DomainError } from '../common/errors.ts';

/**
 * The refusal of a query text: where in it, counted in characters from 1, and what was expected there.
 * @param at - index into `text`
 * @param path - where the text stands in the request
 * @see docs/api-conventions.md#error-codes
 */
export function queryError(text: string, at: number, expected: string, path: string): DomainError {
  const message = `character ${characterAt(text, at)}: expected ${expected}`;
  return new DomainError('InvalidQueryError', `The query is wrong at ${message}`, { details: [{ path, message }] });
}

/** Characters outside the basic plane are two units of a string and one to people. */
function characterAt(text: string, at: number): number {
  let character = 1;
  for (let index = 0; index < at; index += text.codePointAt(index)! > 0xffff ? 2 : 1) character++;
  return character;
}
