import { globSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatNumber } from '../../tools/bench/harness/report.ts';
import type { Product } from '../../tools/bench/options.ts';
import { readKept } from '../../tools/bench/page/kept-result.ts';

const HEAD = '| What | Separate topology | Embedded |';

/** By the row's first cell: the set, and the text of its other cells, with the names of figures. */
const ROWS: Readonly<Record<string, readonly [set: string, ...parts: string[]]>> = {
  'computers that a core at 70 % carries, all processes counted (ping every 30 s, exchange every 15 min)': [
    'checkins',
    '{computers per core at 30 s ping, 15 min exchange}',
  ],
  'CPU of one operation, in a group of 10,000': ['snaps', ...byRole('10,000: CPU per computer')],
  'CPU of an action on one computer only': ['single', ...byRole('CPU per single action')],
  'an action on 1,000 computers that ping every second': [
    'snaps',
    'accepted in {1,000: accepted}',
    'done after {1,000: all done}',
  ],
  'an action on 10,000 computers that ping every 10 s': [
    'snaps',
    'accepted in {10,000: accepted}',
    'done after {10,000: all done}',
    'p95 of the API meanwhile {10,000: API meanwhile, p95}',
  ],
  'an action on 10,000 computers, from POST to the last result': [
    'snaps',
    '{10,000: all done}',
    '{10,000: computers per second}',
  ],
  'an action on 100,000 computers': ['growth', 'accepted in {100,000: accepted}', 'done after {100,000: all done}'],
  '10,000 recurring profiles due at one moment': [
    'scheduler',
    'first run after {10,000 due at once: first run}',
    'last after {10,000 due at once: lateness, max}',
  ],
  'reports of audits with 400 rules': ['usg', '{reports stored} stored', '{CPU per report} CPU each'],
  'a detailed report on five audits of 10,000 computers': ['report', '{detailed: size}', 'in {detailed: report made}'],
  'a page of 1,000 out of 100,000 computers, with count': [
    'computers',
    '{100,000: page of 1,000 (85,985), p50}',
    '{100,000: over bare SQL: page of 1,000} the bare SQL',
  ],
  'memory that an action on 10,000 computers adds to API and worker': ['snaps', '{10,000: memory added, API + worker}'],
  'cold start, from nothing to the first accepted action': ['startup', '{cold start to first workflow}'],
};

const kept = readKept(process.cwd());

function byRole(figure: string): string[] {
  return ['API', 'gateway', 'worker', 'Temporal', 'PostgreSQL'].map((role) => `${role} {${figure}, ${role}}`);
}

/** The text of a cell; a figure that the set does not have on this product is left out. */
function cellOf([set, ...parts]: readonly [string, ...string[]], on: Product): string {
  const rows = kept.find((result) => result.name === set && result.on === on)?.rows ?? [];
  const shown = parts.flatMap((part) => {
    const row = rows.find(({ figure }) => part.includes(`{${figure}}`));
    return row ? [part.replace(/\{.+\}/, `${formatNumber(row.value.median)} ${row.unit}`.trimEnd())] : [];
  });
  return shown.join(', ');
}

const MAX_KEPT_BYTES = 200_000;

describe('results in docs/benchmarks', () => {
  it(`take at most ${MAX_KEPT_BYTES / 1000} kB together`, () => {
    const sizes = globSync('docs/benchmarks/*.json').map((path) => statSync(path).size);
    expect(sizes.length).toBeGreaterThan(0);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MAX_KEPT_BYTES);
  });
});

describe('figures copied from docs/benchmarks', () => {
  it.each(['README.md', 'docs/operations.md'])('are still those of the results in %s', (file) => {
    const lines = readFileSync(file, 'utf8').split('\n');
    const start = lines.findIndex((line) => line.startsWith(HEAD)) + 2;
    const table = lines.slice(start, lines.indexOf('', start));
    const shown = table.map((line) =>
      line
        .split('|', 4)
        .slice(1)
        .map((cell) => cell.trim()),
    );
    expect(shown.length).toBeGreaterThan(3);
    const expected = shown.map(([what]) => {
      const row = ROWS[what!];
      return row ? [what, cellOf(row, 'topology'), cellOf(row, 'embedded')] : [`${what}: not known here`];
    });
    expect(shown).toEqual(expected);
  });
});
