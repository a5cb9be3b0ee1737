import { describe, expect, it } from 'vitest';
import { findJsonFault } from '../../../../src/api/http/request/json.ts';
import fc from '../../../support/common/random.ts';

describe('findJsonFault', () => {
  it('finds nothing in any storable value of bounded depth', () => {
    const text = fc.string({ unit: 'grapheme' }).filter((s) => !s.includes('\0'));
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ depthSize: 'small', maxDepth: 20 }, text, fc.double(), fc.boolean(), tie('list'), tie('map')),
      list: fc.array(tie('any')),
      map: fc.dictionary(text, tie('any')),
    })).any;
    fc.assert(fc.property(value, (v) => findJsonFault(JSON.stringify(v)) === null));
  });

  it('finds repeated keys however they are written, in one object only', () => {
    expect(findJsonFault('{"a":1,"\\u0061":2}')).toContain('repeat');
    expect(findJsonFault('{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}')).toBeNull();
    expect(findJsonFault('["a","a",":","{"]')).toBeNull();
    expect(findJsonFault('{"a":"a","b":"a:","c":"\\"a\\":"}')).toBeNull();
  });

  it('allows 32 levels and rejects 33', () => {
    expect(findJsonFault(`${'['.repeat(32)}${']'.repeat(32)}`)).toBeNull();
    expect(findJsonFault(`${'['.repeat(33)}${']'.repeat(33)}`)).toContain('deeper');
    expect(findJsonFault(`[${'[],'.repeat(100)}[]]`)).toBeNull();
  });

  it('limits values, arrays, keys and strings, with room for the longest lists', () => {
    expect(findJsonFault(`{"computer_ids":[${Array(100_001).fill(1).join()}]}`)).toBeNull();
    expect(findJsonFault(`[${Array(150_001).fill(1).join()}]`)).toContain('values');
    expect(findJsonFault(`[${Array(20_000).fill('{}').join()}]`)).toContain('arrays and objects');
    const keys = Array.from({ length: 20_001 }, (_, n) => `"k${n}":1`);
    expect(findJsonFault(`{${keys.slice(1).join()}}`)).toBeNull();
    expect(findJsonFault(`{${keys.join()}}`)).toContain('keys');
    expect(findJsonFault(JSON.stringify('x'.repeat(2_000_000)))).toBeNull();
  });

  it('terminates on text that is not JSON', () => {
    for (const text of ['"', '"\\\\"', '"\\', '{"a', ']]]', ':::', '{"\\u00', '"\\ud8"']) findJsonFault(text);
    expect(findJsonFault('{"\\q":1,"\\q":2}')).toBeNull();
  });

  it('finds text that cannot be stored', () => {
    for (const bad of ['"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '{"\\u0000":1}']) {
      expect(findJsonFault(bad)).toContain('U+0000');
    }
    expect(findJsonFault('"\\ud83d\\ude00 \\\\u0000"')).toBeNull();
  });
});
