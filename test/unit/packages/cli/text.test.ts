import { expect, it } from 'vitest';
import { toJson, visibleLine, visibleText } from '../../../../packages/cli/src/output/text.ts';
import fc from '../../../support/common/random.ts';

const HOSTILE = 'a\u001b[2J\u001b]0;title\u0007b\u009b31mc\r\nd\te\u202ef\u2066g\u2028h\u007f';
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

it('shows control characters as escapes, on one line', () => {
  expect(visibleLine(HOSTILE)).toBe(
    'a\\u001b[2J\\u001b]0;title\\u0007b\\u009b31mc\\r\\nd\\te\\u202ef\\u2066g\\u2028h\\u007f',
  );
});

it('keeps line breaks and tabs of longer texts', () => {
  expect(visibleText('one\r\ntwo\n\tthree\u001b[31m\r')).toBe('one\ntwo\n\tthree\\u001b[31m\\u000d');
});

it('writes JSON that means the same and cannot control a terminal', () => {
  const value = { title: HOSTILE, list: ['ü', '漢', '👩‍💻'] };
  expect(toJson(value)).not.toMatch(UNSAFE);
  expect(JSON.parse(toJson(value))).toEqual(value);
  expect(JSON.parse(toJson(value, 2))).toEqual(value);
});

it('lets no control character through, whatever the text', () => {
  const property = fc.property(fc.string({ unit: 'binary' }), (text) => {
    expect(visibleLine(text)).not.toMatch(UNSAFE);
    expect(visibleText(text).replaceAll(/[\n\t]/g, '')).not.toMatch(UNSAFE);
    expect(JSON.parse(toJson(text))).toBe(text);
  });
  fc.assert(property);
});
