import { DomainError } from '../common/errors.ts';

/** Names the position in characters from 1; `at` is an index. @see docs/api-conventions.md#error-codes */
export function queryError(text: string, at: number, expected: string, path: string): DomainError {
  const position = characterAt(text, at);
  const message = `character ${position}: expected ${expected}`;
  const details = [{ path, position, message }];
  return new DomainError('InvalidQueryError', `The query is invalid at ${message}`, { details });
}

/** Counts characters outside the basic plane, which are two UTF-16 units, as one. */
function characterAt(text: string, at: number): number {
  let character = 1;
  for (let index = 0; index < at; index += text.codePointAt(index)! > 0xffff ? 2 : 1) character++;
  return character;
}
