import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeMachine } from '../../tools/bench/harness/machine.ts';
import { ReportBuilder } from '../../tools/bench/harness/report.ts';
import { keep, keptResult, readKept, writeAll, writePages } from '../../tools/bench/page/kept-result.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'flotilla-kept-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const machine = describeMachine(process.cwd());

function result(on: 'embedded' | 'topology', value: number) {
  const builder = new ReportBuilder();
  builder.row('1,000: accepted alone, p95', 'ms', [value]);
  return keptResult(builder.finish('snaps', ['a round'], false), { at: new Date(0), command: 'snaps', on, machine });
}

describe('kept results', () => {
  it('replace the one before of the same benchmark on the same product', () => {
    keep(root, result('embedded', 1));
    keep(root, result('topology', 2));
    keep(root, result('embedded', 3));
    const kept = readKept(root);
    expect(kept.map(({ on, rows }) => [on, rows[0]!.value.median])).toEqual([
      ['embedded', 3],
      ['topology', 2],
    ]);
    expect(kept[0]).not.toHaveProperty('rounds');
    const page = writePages(root, kept);
    expect(readFileSync(page, 'utf8')).toContain('| 4a | POST /snaps to a group: accepted, p95 (1,000) | topology |');
  });

  it('are none before anything was kept', () => {
    expect(readKept(root)).toEqual([]);
  });

  it('name the versions that they were made with', () => {
    expect(machine.postgres).toMatch(/^\d+\.\d+/);
    const version = expect.stringMatching(/^\d+\.\d+\.\d+$/);
    expect(machine.temporal).toEqual({ embedded: version, topology: version });
  });
});

describe('writeAll', () => {
  it('writes all results as one file for programs and one for people', () => {
    const [json, page] = writeAll(root, [result('embedded', 7)], new Date(0));
    expect(JSON.parse(readFileSync(json!, 'utf8'))).toMatchObject([{ name: 'snaps', on: 'embedded' }]);
    expect(readFileSync(page!, 'utf8')).toContain('## snaps, embedded');
  });
});
