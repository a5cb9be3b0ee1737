import { describe, expect, it } from 'vitest';
import { diffLines, withGaps } from '../../../web/src/pages/scripts/line-diff.ts';

const marks = { same: ' ', added: '+', removed: '-' };
const shown = (before: string, after: string) =>
  diffLines(before, after).map(({ kind, text }) => `${marks[kind]}${text}`);

describe('the comparison of two texts', () => {
  it.each([
    ['a\nb\nc', 'a\nb\nc', [' a', ' b', ' c']],
    ['a\nb\nc', 'a\nx\nc', [' a', '-b', '+x', ' c']],
    ['a\nc', 'a\nb\nc', [' a', '+b', ' c']],
    ['a\nb\nc\nd', 'b\nd\ne', ['-a', ' b', '-c', ' d', '+e']],
    ['a\na', 'a', [' a', '-a']],
    ['', 'a', ['-', '+a']],
  ])('of %j and %j', (before, after, expected) => {
    expect(shown(before, after)).toEqual(expected);
  });

  it('numbers the lines of both', () => {
    expect(diffLines('a\nb', 'x\nb').map(({ before, after }) => [before, after])).toEqual([
      [1, null],
      [null, 1],
      [2, 2],
    ]);
  });

  it('of very long texts replaces what is between their common beginning and end', () => {
    const long = (letter: string) => Array.from({ length: 3000 }, (_, line) => `${letter}${line}`).join('\n');
    const lines = diffLines(`first\n${long('a')}\nlast`, `first\n${long('b')}\nlast`);
    expect(lines).toHaveLength(6002);
    expect(lines.filter(({ kind }) => kind === 'same').map(({ text }) => text)).toEqual(['first', 'last']);
  });

  it('leaves out what is far from a change', () => {
    const text = (middle: string) => [...'abcdefgh', middle, ...'ijklmnop'].join('\n');
    const lines = withGaps(diffLines(text('1'), text('2')));
    expect(lines.map((line) => (line.kind === 'gap' ? line.lines : line.text))).toEqual([
      5,
      ...'fgh',
      '1',
      '2',
      ...'ijk',
      5,
    ]);
    expect(withGaps(diffLines('a\nb', 'a\nb'))).toEqual([{ kind: 'gap', lines: 2 }]);
  });
});
