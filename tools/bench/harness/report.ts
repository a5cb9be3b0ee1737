import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Summary, sum, summarize } from './statistics.ts';
import type { Usage } from './usage.ts';
import { classify, type Target, type Verdict } from './verdict.ts';

/** One line of the table. */
export interface Row {
  figure: string;
  unit: string;
  value: Summary;
  target?: Target;
  verdict?: Verdict;
}

/** Results of one benchmark, written as JSON. */
export interface Report {
  name: string;
  rows: Row[];
  /** Highest noise of the machine. See {@link noiseOf}. */
  noise: { foreignShare: number; stealShare: number; loadAverage: number };
  asserted: string[];
  rounds: unknown;
  notes: string[];
}

/** Collects the rows of a benchmark and classifies them by the noise of its windows. */
export class ReportBuilder {
  readonly #rows: Row[] = [];
  readonly #windows: Usage[] = [];
  readonly #asserted: string[] = [];
  readonly #notes: string[] = [];

  /** Adds a measured window whose noise counts. */
  window(usage: Usage): void {
    this.#windows.push(usage);
  }

  /** @param isUndecided - the samples scatter too much for a verdict */
  row(figure: string, unit: string, samples: readonly number[], target?: Target, isUndecided = false): void {
    if (samples.length === 0) return;
    const verdict = isUndecided ? { verdict: 'not judged' as const } : {};
    this.#rows.push({ figure, unit, value: summarize(samples), ...(target ? { target, ...verdict } : {}) });
  }

  asserted(text: string): void {
    if (!this.#asserted.includes(text)) this.#asserted.push(text);
  }

  note(text: string): void {
    if (!this.#notes.includes(text)) this.#notes.push(text);
  }

  /** @param judgeAnyway - give verdicts on a noisy machine too */
  finish(name: string, rounds: unknown, judgeAnyway: boolean): Report {
    const noise = noiseOf(this.#windows);
    const level = judgeAnyway ? 0 : Math.max(noise.foreignShare, noise.stealShare);
    const rows = this.#rows.map((row) =>
      row.target && !row.verdict ? { ...row, verdict: classify(row.value.median, row.target, level) } : row,
    );
    return { name, rows, noise, asserted: this.#asserted, rounds, notes: this.#notes };
  }
}

/** The kernel counts CPU time in steps of 10 ms: shorter stretches are no measure of foreign load. */
const STRETCH_MS = 5_000;

/** The worst foreign load; short windows are combined with the short ones after them. */
export function noiseOf(windows: readonly Usage[]): Report['noise'] {
  const stretches = stretchesOf(windows);
  const share = (stretch: readonly Usage[], pick: (usage: Usage) => number) =>
    sum(stretch.map((usage) => pick(usage) * usage.wallMs)) / lengthOf(stretch);
  const worst = (pick: (usage: Usage) => number) => Math.max(0, ...stretches.map((stretch) => share(stretch, pick)));
  return {
    foreignShare: worst((u) => u.foreignShare),
    stealShare: worst((u) => u.stealShare),
    loadAverage: Math.max(0, ...windows.map((u) => u.loadAverage)),
  };
}

function stretchesOf(windows: readonly Usage[]): Usage[][] {
  const long = windows.filter(({ wallMs }) => wallMs >= STRETCH_MS).map((window) => [window]);
  const short: Usage[][] = [];
  for (const window of windows.filter(({ wallMs }) => wallMs < STRETCH_MS)) {
    const last = short.at(-1);
    if (last && lengthOf(last) < STRETCH_MS) last.push(window);
    else short.push([window]);
  }
  return [...long, ...short];
}

const lengthOf = (stretch: readonly Usage[]): number => sum(stretch.map(({ wallMs }) => wallMs));

/** The table as text. */
export function renderTable(report: Report): string {
  const header = ['figure', 'median', 'min', 'max', 'unit', 'first (goal)', 'verdict'];
  const body = report.rows.map((row) => [
    row.figure,
    ...[row.value.median, row.value.min, row.value.max].map(formatNumber),
    row.unit,
    row.target ? `${formatTarget(row.target, 'first')} (${formatNumber(row.target.goal)})` : '',
    row.verdict ?? '',
  ]);
  const widths = header.map((title, i) => Math.max(title.length, ...body.map((cells) => cells[i]!.length)));
  const isNumber = (i: number) => i >= 1 && i <= 3;
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (isNumber(i) ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join('  ')
      .trimEnd();
  const { foreignShare, stealShare, loadAverage } = report.noise;
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  return [
    `== ${report.name}`,
    line(header),
    line(widths.map((width) => '-'.repeat(width))),
    ...body.map(line),
    `at worst: foreign load ${percent(foreignShare)}, steal ${percent(stealShare)}, load average ${loadAverage.toFixed(2)}`,
    ...report.asserted.map((text) => `held: ${text}`),
    ...report.notes.map((text) => `note: ${text}`),
  ].join('\n');
}

/** Writes a report with its machine. @returns the path */
export function writeReport(root: string, report: Report, machine: unknown, now: Date): string {
  const folder = join(root, 'build', 'bench');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${report.name}-${now.toISOString().replaceAll(/[:.]/g, '-')}.json`);
  writeFileSync(path, `${JSON.stringify({ at: now.toISOString(), machine, ...report }, null, 2)}\n`);
  return path;
}

/** A bound as shown in tables. */
export function formatTarget(target: Target, bound: 'first' | 'goal'): string {
  return `${target.kind === 'least' ? '>=' : '<='} ${formatNumber(target[bound])}`;
}

/** Three significant digits, thousands separated by a comma. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '-';
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.min(digits, 6) });
}
