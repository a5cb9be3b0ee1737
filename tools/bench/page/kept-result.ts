import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from '../harness/machine.ts';
import type { Report } from '../harness/report.ts';
import { BENCHMARKS, type BenchmarkName, type Product } from '../options.ts';
import { type KeptResult, renderDetails, renderPage } from './render-page.ts';

const FOLDER = join('docs', 'benchmarks');

/** Leaves out the rounds. */
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
  writeFileSync(path, `${JSON.stringify(result, null, 2)}\n`);
}

/** All stored results. */
export function readKept(root: string): KeptResult[] {
  const folder = join(root, FOLDER);
  mkdirSync(folder, { recursive: true });
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names.sort().map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as KeptResult);
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
