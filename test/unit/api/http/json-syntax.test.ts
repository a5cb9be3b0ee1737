import { describe, expect, it } from 'vitest';
import { findSyntaxFault } from '../../../../src/api/http/request/json.ts';
import fc from '../../../support/common/random.ts';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('findSyntaxFault', () => {
  it.each([
    ['title=x', 1, 1, 'a value is expected'],
    ['{not: 1}', 1, 2, 'a name in double quotes is expected'],
    ["{\n  'a': 1}", 2, 3, 'a name in double quotes is expected'],
    ['{"a" 1}', 1, 6, 'a colon is expected'],
    ['{"a":1,}', 1, 8, 'a name in double quotes is expected'],
    ['{"a":1 "b":2}', 1, 8, 'a comma or "}" is expected'],
    ['[1 2]', 1, 4, 'a comma or "]" is expected'],
    ['[1,]', 1, 4, 'a value is expected'],
    ['{"a": undefined}', 1, 7, 'a value is expected'],
    ['{"a": 01}', 1, 7, 'a value is expected'],
    ['{} {}', 1, 4, 'nothing more is expected'],
    ['{"a": "b', 1, 9, 'it ends within a string'],
    ['{"a": "b\nc"}', 1, 9, 'a string has a line break, a control character or an unknown escape'],
    ['{"a": 1', 1, 8, 'it ends where a comma or "}" is expected'],
    [' ', 1, 2, 'it ends where a value is expected'],
  ])('%j: reports where and what', (text, line, column, message) => {
    expect(findSyntaxFault(text)).toEqual({ line, column, message });
  });

  it('finds one exactly where there is one', () => {
    const piece = fc.constantFrom(...'{}[],:" \\', '"a"', 'true', 'null', '-', '0', '1.5e3', '\\n', '\\u00', '\u0001');
    const nearJson = fc
      .tuple(fc.json(), fc.nat(), fc.oneof(piece, fc.constant('')))
      .map(([text, at, inserted]) => `${text.slice(0, at % (text.length + 1))}${inserted}${text.slice(at % 7)}`);
    const text = fc.oneof(
      fc.json(),
      nearJson,
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(text, (sent) => {
        expect(findSyntaxFault(sent) === null).toBe(isJson(sent));
      }),
      { numRuns: 3000 },
    );
  });
});
