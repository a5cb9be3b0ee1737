import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Machine } from '../../tools/bench/harness/machine.ts';
import { type Report, ReportBuilder, renderTable } from '../../tools/bench/harness/report.ts';
import type { Usage } from '../../tools/bench/harness/usage.ts';
import { TARGETS } from '../../tools/bench/harness/verdict.ts';
import { BENCHMARKS } from '../../tools/bench/options.ts';
import { CRITERIA } from '../../tools/bench/page/criteria.ts';
import { keptResult, readKept } from '../../tools/bench/page/kept-result.ts';
import type { KeptResult } from '../../tools/bench/page/render-page.ts';
import { renderDetails, renderPage, renderTargets } from '../../tools/bench/page/render-page.ts';

const machine: Machine = {
  cpu: 'Some CPU',
  cores: 2,
  memoryMiB: 8192,
  kernel: '6.1 x64',
  node: '24.0.0',
  commit: 'abc1234',
  postgres: '18.4.0',
  temporal: { embedded: 'CLI 1.5.1', topology: '1.32.0' },
  packages: { '@temporalio/worker': '1.24.0' },
};

function window(foreignShare: number): Usage {
  return { wallMs: 1, roles: {}, foreignShare, stealShare: 0, loadAverage: 1.5 };
}

function snapsReport(foreignShare: number): Report {
  const builder = new ReportBuilder();
  builder.window(window(foreignShare));
  builder.row('1,000: accepted alone, p95', 'ms', [40, 30, 50], TARGETS.acceptMs);
  builder.row('10,000: accepted alone, p95', 'ms', [137], TARGETS.acceptMs);
  builder.row('10,000: no-op workflow over computer, CPU', 'x', [8.5], TARGETS.computersPerNoop);
  builder.row('10,000: CPU per computer', 'ms', [2.4]);
  builder.row('10,000: CPU per computer, API', 'ms', [1]);
  builder.row('10,000: CPU per no-op workflow', 'ms', [20.4]);
  builder.row('10,000: CPU per no-op workflow, Temporal', 'ms', [15]);
  builder.row('growth 1,000 -> 10,000: accepted', 'exponent', [0.7]);
  builder.asserted('every row | every agent');
  return builder.finish('snaps', [{ secret: 'rounds' }], false);
}

function kept(report: Report): KeptResult {
  return keptResult(report, { at: new Date('2026-01-02T03:04:05Z'), command: 'snaps', on: 'embedded', machine });
}

describe('renderTargets', () => {
  it('shows the figure of the largest size with what it is made of and its verdict', () => {
    const lines = renderTargets([kept(snapsReport(0.02))]).split('\n');
    expect(lines).toHaveLength(2 + 2);
    expect(lines.find((line) => line.startsWith('| 1b |'))).toMatch(
      /^\| 1b \| computers completed .* \(10,000\) \| embedded \| 2.4 ms \| 20.4 ms \| 8.5 x \| >= 10 \| >= 40 \| missed \| 2 % foreign, 1.5 \| /,
    );
    expect(lines.find((line) => line.startsWith('| 4a |'))).toContain('| 137 ms | <= 250 | <= 30 | met |');
  });

  it('reports that a loaded machine gave no verdict', () => {
    expect(renderTargets([kept(snapsReport(0.4))])).toContain('| not judged | 40 % foreign, 1.5 |');
  });

  it('reports that what scatters too much gave no verdict, where others beside it do', () => {
    const builder = new ReportBuilder();
    builder.window(window(0));
    builder.row('list p99, trend', '%/h', [1], TARGETS.soakPercent, true);
    builder.row('memory of our processes, trend', '%/h', [1], TARGETS.soakPercent, false);
    expect(builder.finish('soak', [], false).rows.map(({ target, verdict }) => [target, verdict])).toEqual([
      [TARGETS.soakPercent, 'not judged'],
      [TARGETS.soakPercent, 'met'],
    ]);
  });

  it('leaves out what was not measured', () => {
    expect(renderTargets([]).split('\n')).toHaveLength(2);
  });
});

describe('renderDetails', () => {
  const page = renderDetails('snaps', [kept(snapsReport(0.02))]);

  it('shows where a result was made and how', () => {
    expect(page).toContain('| embedded | 2026-01-02 03:04 | abc1234 | Some CPU, 2 cores, 8 GiB');
    expect(page).toContain('PostgreSQL 18.4.0, Temporal CLI 1.5.1, SDK 1.24.0 | `snaps` |');
  });

  it('holds every row with its spread and no rounds', () => {
    expect(page).toContain('| 1,000: accepted alone, p95 | 40 | 30 | 50 | ms | <= 250 (<= 30) | met |');
    expect(page).toContain('- held: every row | every agent');
    expect(page).not.toContain('secret');
  });
});

describe('renderPage', () => {
  it('describes every benchmark there is and links to the details of those with a result', () => {
    const page = renderPage([kept(snapsReport(0.02))]);
    for (const name of BENCHMARKS) expect(page).toContain(`\`${name}\``);
    expect(page).toContain('[`snaps`](benchmarks/snaps.md)');
    expect(page).not.toContain('benchmarks/soak.md');
  });
});

describe('docs/benchmarks.md', () => {
  const results = readKept(process.cwd());
  const read = (file: string) => readFileSync(join('docs', file), 'utf8');

  it('is made from the results that are kept, with a page for each benchmark', () => {
    expect(read('benchmarks.md')).toBe(renderPage(results));
    for (const name of BENCHMARKS) expect(read(`benchmarks/${name}.md`)).toBe(renderDetails(name, results));
  });

  it('stays short', () => expect(read('benchmarks.md').split('\n').length).toBeLessThanOrEqual(250));
});

describe('CRITERIA', () => {
  it('belong to benchmarks that there are, in the order of the set', () => {
    expect(CRITERIA.filter(({ set }) => !BENCHMARKS.includes(set))).toEqual([]);
    const numbers = CRITERIA.map(({ id }) => id).filter((id) => id !== '-');
    expect(numbers).toEqual(numbers.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })));
  });
});

describe('renderTable', () => {
  it('shows first target and goal', () => {
    expect(renderTable(snapsReport(0))).toMatch(/10,000: accepted alone, p95 +137 +137 +137 +ms +<= 250 \(30\) +met/);
  });
});
