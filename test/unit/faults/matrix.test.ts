import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FAULTS } from '../../../tools/faults/matrix/faults.ts';
import { MATRIX } from '../../../tools/faults/matrix/rows.ts';
import { ROW_CASES } from '../../../tools/faults/rows/index.ts';

const PROJECT = join(import.meta.dirname, '../../..');

describe('the table of the fault matrix', () => {
  it('has every row, 1 to 30, once', () => {
    expect(MATRIX.map(({ row }) => row)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
  });

  it.each(MATRIX)('row $row, $fault, has a test of its own', ({ row, elsewhere }) => {
    const own = ROW_CASES.filter((each) => each.row === row);
    expect(own.length + elsewhere.length).toBeGreaterThan(0);
    for (const { file, title } of elsewhere) {
      const path = join(PROJECT, file);
      expect(existsSync(path), file).toBe(true);
      expect(readFileSync(path, 'utf8'), `a test in ${file}`).toContain(title);
    }
  });

  it('knows every row that a random fault names', () => {
    const rows = new Set(MATRIX.map(({ row }) => row));
    for (const { rows: mine } of Object.values(FAULTS)) for (const row of mine) expect(rows).toContain(row);
  });
});
