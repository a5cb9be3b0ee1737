import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from '../harness/machine.ts';
import { formatNumber, type Report, type Row } from '../harness/report.ts';
import { BENCHMARKS, type BenchmarkName, type Product } from '../options.ts';
import { type KeptResult, renderDetails, renderPage } from './render-page.ts';

const FOLDER = join('docs', 'benchmarks');

/** Medians and spread, without the rounds. */
export function keptResult(
  report: Report,
  made: { at: Date; command: string; on: Product; machine: Machine },
): KeptResult {
  const { rounds: _, ...kept } = report;
  return { ...made, ...kept, at: made.at.toISOString() };
}

/** Stores a result in place of the previous one of the same benchmark and product. */
export function keep(root: string, result: KeptResult): void {
  mkdirSync(join(root, FOLDER), { recursive: true });
  const path = join(root, FOLDER, `${result.name}-${result.on}.json`);
  writeFileSync(path, storedText(result));
}

/** What a row is in a file, one row on a line: hundreds of rows with names for every value are three times as long. */
const COLUMNS = ['figure', 'unit', 'median', 'min', 'max', 'rounds', 'target', 'verdict'];
type StoredRow = [string, string, number, number, number, number, Row['target']?, Row['verdict']?];

function storedText({ rows, ...rest }: KeptResult): string {
  const lines = rows.map(({ figure, unit, value, target, verdict }) => {
    const row: StoredRow = [figure, unit, rounded(value.median), rounded(value.min), rounded(value.max), value.rounds];
    return JSON.stringify(target ? [...row, target, verdict] : row);
  });
  const head = JSON.stringify({ ...rest, columns: COLUMNS });
  return `${head.slice(0, -1)},"rows":[\n${lines.join(',\n')}\n]}\n`;
}

/** To the digits that the pages show. */
const rounded = (value: number): number => Number(formatNumber(value).replaceAll(',', ''));

function fromStored(text: string): KeptResult {
  const {
    columns: _,
    rows,
    ...rest
  } = JSON.parse(text) as Omit<KeptResult, 'rows'> & {
    columns: unknown;
    rows: StoredRow[];
  };
  return {
    ...rest,
    rows: rows.map(([figure, unit, median, min, max, rounds, target, verdict]) => ({
      figure,
      unit,
      value: { median, min, max, rounds },
      ...(target && { target }),
      ...(verdict && { verdict }),
    })),
  };
}

/** All stored results. */
export function readKept(root: string): KeptResult[] {
  const folder = join(root, FOLDER);
  mkdirSync(folder, { recursive: true });
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names.sort().map((name) => fromStored(readFileSync(join(folder, name), 'utf8')));
}

/** Writes the results of a full run as one JSON file and as the page rendered from them. @returns the paths */
export function writeAll(root: string, results: readonly KeptResult[], now: Date): string[] {
  const folder = join(root, 'build', 'bench');
  mkdirSync(folder, { recursive: true });
  const stem = join(folder, `all-${now.toISOString().replaceAll(/[:.]/g, '-')}`);
  writeFileSync(`${stem}.json`, `${JSON.stringify(results, null, 2)}\n`);
  const details = results.map(({ name }) => renderDetails(name as BenchmarkName, results));
  writeFileSync(`${stem}.md`, [renderPage(results), ...details].join('\n'));
  return [`${stem}.json`, `${stem}.md`];
}

/** Writes the page and one for each benchmark. @returns the path of the first */
export function writePages(root: string, results: readonly KeptResult[]): string {
  for (const name of BENCHMARKS.filter((known) => results.some((result) => result.name === known))) {
    writeFileSync(join(root, FOLDER, `${name}.md`), renderDetails(name, results));
  }
  const path = join(root, 'docs', 'benchmarks.md');
  writeFileSync(path, renderPage(results));
  return path;
}
