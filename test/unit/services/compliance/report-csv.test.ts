import { describe, expect, it } from 'vitest';
import { summaryLine, toLines, writeDetailedLines } from '../../../../src/services/compliance/reports/csv.ts';
import { ChunkBuffer } from '../../../../src/services/compliance/reports/chunk-buffer.ts';

const row = {
  run_id: 1,
  started_at: new Date('2026-05-04T02:11:00Z'),
  computer_id: 7,
  title: 'web-1',
  passed: 2,
  failed: 1,
  reported_at: new Date('2026-05-04T02:12:09.5Z'),
  rule_set_id: 1,
  results: 'pxfeunci',
};

describe('summaryLine', () => {
  it.each([
    'web-1',
    'Rack 3 (left): db/2.example',
    '',
    ' spaced ',
    'a,b',
    'say "hi"',
    'two\nlines',
    'a\r',
    'tab\tinside',
    '\tbefore',
    '=1+1',
    '+1',
    '-1',
    '@x',
    "'quoted",
    'Zürich',
    '"',
  ])('writes the title %j as the library does', (title) => {
    const line = toLines([[7, title, 2, 1, 67, '2026-05-04T02:12:09Z']]);
    expect(summaryLine({ ...row, title })).toBe(line);
  });

  it.each([
    [199, 1, 99],
    [1, 199, 1],
    [200, 0, 100],
    [0, 200, 0],
  ])('gives %d rules that pass and %d that fail the rate %d', (passed, failed, rate) => {
    expect(summaryLine({ ...row, passed, failed })).toBe(
      `7,web-1,${passed},${failed},${rate},2026-05-04T02:12:09Z\r\n`,
    );
  });

  it('has no rate without rules that count, no name of a removed computer, no time without a report', () => {
    expect(summaryLine({ ...row, title: null, passed: 0, failed: 0, reported_at: null })).toBe('7,,0,0,n/a,\r\n');
  });
});

describe('writeDetailedLines', () => {
  it('writes a line for each rule, in pieces of any size', async () => {
    const kept: string[] = [];
    const pieces = new ChunkBuffer(async (piece) => void kept.push(piece.toString()));
    const cells = [...row.results, '?'].map((_, n) => Buffer.from(`,rule ${n} é ${'x'.repeat(100_000)},high,,,,`));
    const rules = { cells, bytes: cells.reduce((sum, { length }) => sum + length, 0) };
    const texts = cells.map(String);
    for (const id of [7, 8]) {
      writeDetailedLines(pieces, { ...row, computer_id: id }, rules, { profileId: 3, label: '20260504' });
      expect(pieces.isFull).toBe(true);
      await pieces.flush();
      expect(pieces.isFull).toBe(false);
    }
    pieces.addText('end');
    await pieces.flush();
    const passes = ['true', 'true', 'false', 'false', 'false', 'n/a', 'n/a', 'n/a', 'n/a'];
    const linesOf = (id: number) =>
      passes
        .map((pass, n) => `${id},usg_profile_audit_report_ID3-20260504${texts[n]}${pass},2026-05-04T02:12:09Z\r\n`)
        .join('');
    expect(kept).toEqual([linesOf(7), linesOf(8), 'end']);
  });
});
