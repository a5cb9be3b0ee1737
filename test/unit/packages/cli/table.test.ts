import { PassThrough } from 'node:stream';
import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { renderFields, renderTable } from '../../../../packages/cli/src/output/table.ts';

const HEAD = ['ID', 'TITLE', 'STATUS'];
const stream = new PassThrough();
const render = (rows: Array<Array<string | number>>, width: number | null) =>
  renderTable(HEAD, rows, { width, stream });

it('aligns numbers on the right and text on the left', () => {
  expect(
    render(
      [
        [7, 'web-1', 'succeeded'],
        [4711, 'db', 'failed'],
      ],
      null,
    ),
  ).toBe(['  ID  TITLE  STATUS', '   7  web-1  succeeded', '4711  db     failed', ''].join('\n'));
});

it('cuts the widest columns until each line fits, and says so with an ellipsis', () => {
  const rows = [[1, 'a title that is much too long for a narrow terminal', 'succeeded']];
  const lines = render(rows, 40).trimEnd().split('\n');
  expect(Math.max(...lines.map(stringWidth))).toBeLessThanOrEqual(40);
  expect(lines[1]).toMatch(/^ 1 {2}a title that is.*… {2}succeeded$/);
});

it('does not cut times', () => {
  const rows = [[1, 'a title that is much too long for a narrow terminal', '2026-05-04T09:12:40Z']];
  expect(render(rows, 40)).toMatch(/^ 1 {2}a title.*… {2}2026-05-04T09:12:40Z$/m);
});

it('counts wide characters as the terminal does', () => {
  const lines = render(
    [
      [1, '漢字漢字漢字漢字漢字漢字', 'x'],
      [2, 'plain', 'y'],
    ],
    26,
  )
    .trimEnd()
    .split('\n');
  expect(Math.max(...lines.map(stringWidth))).toBeLessThanOrEqual(26);
  expect(lines.slice(1).map((line) => stringWidth(line.slice(0, -1)))).toEqual([
    expect.any(Number),
    expect.any(Number),
  ]);
  expect(stringWidth(lines[1]!.slice(0, -1))).toBe(stringWidth(lines[2]!.slice(0, -1)));
});

it('shows hostile text on one line, without its escape sequences', () => {
  const text = render([[1, 'evil\u001b[2J\nsecond line', 'ok']], null);
  expect(text.split('\n')).toHaveLength(3);
  expect(text).toContain('evil\\u001b[2J\\nsecond line');
});

it('lists the fields of one object that have a value', () => {
  expect(
    renderFields([
      ['ID', 3],
      ['ACCESS GROUP', 'lab\u0007'],
      ['TAGS', ''],
    ]),
  ).toBe(['ID            3', 'ACCESS GROUP  lab\\u0007', ''].join('\n'));
});
