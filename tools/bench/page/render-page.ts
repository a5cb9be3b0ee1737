import type { Machine } from '../harness/machine.ts';
import { formatNumber, formatTarget, type Report, type Row } from '../harness/report.ts';
import { BENCHMARKS, type BenchmarkName, type Product } from '../options.ts';
import { CRITERIA, type Criterion } from './criteria.ts';
import { HEAD, MEASURES, REASONS } from './page-text.ts';

/** Results of a benchmark without its rounds, and where they were measured. */
export interface KeptResult extends Omit<Report, 'rounds'> {
  at: string;
  command: string;
  on: Product;
  machine: Machine;
}

/** The page of all kept results; figures without targets are on a page per benchmark. */
export function renderPage(results: readonly KeptResult[]): string {
  const lines = BENCHMARKS.map((name) => {
    const isKept = results.some((result) => result.name === name);
    return [isKept ? `[\`${name}\`](benchmarks/${name}.md)` : `\`${name}\``, MEASURES[name]];
  });
  const benchmarks = `## The benchmarks\n\nEach page has every figure and where it was made.\n\n${table(['Name', 'Measures'], lines)}`;
  return `${[HEAD, renderTargets(results), REASONS, benchmarks].join('\n\n')}\n`;
}

/** Every figure of one benchmark, on all measured products. */
export function renderDetails(name: BenchmarkName, results: readonly KeptResult[]): string {
  const own = results.filter((result) => result.name === name);
  const head = `# Benchmark: ${name}\n\nMeasures ${MEASURES[name]}. How to read it: [benchmarks](../benchmarks.md).`;
  return `${[head, renderMachines(own), ...own.map(renderResult)].join('\n\n')}\n`;
}

/** Results against the targets, one line for each criterion with a result. */
export function renderTargets(results: readonly KeptResult[]): string {
  const head = ['#', 'Benchmark', 'On', 'Ours', 'Baseline', 'Figure', 'First target', 'Goal', 'Verdict', 'Load', PEERS];
  const lines = CRITERIA.flatMap((criterion) =>
    results.filter(({ name }) => name === criterion.set).flatMap((result) => targetLine(criterion, result)),
  );
  return table(head, lines);
}

const PEERS = 'Published by others, from their document on other hardware';

function targetLine(criterion: Criterion, result: KeptResult): string[][] {
  const find = (pattern: RegExp | undefined) => pattern && result.rows.findLast(({ figure }) => pattern.test(figure));
  const row = find(criterion.figure);
  if (!row) return [];
  const shown = (found: Row | undefined) => (found ? shownValue(found) : '');
  const { target } = row;
  return [
    [
      criterion.id,
      criterion.what + sizeOf(row),
      result.on,
      shown(find(criterion.ours)),
      shown(find(criterion.baseline)),
      shownValue(row),
      target ? formatTarget(target, 'first') : '',
      target ? formatTarget(target, 'goal') : '',
      row.verdict ?? '',
      loadOf(result),
      criterion.peers ?? '',
    ],
  ];
}

/** Rows of sets with several sizes start with the size. */
function sizeOf({ figure }: Row): string {
  const size = /^([\d,]+)(?=: | due at once)/.exec(figure)?.[1];
  return size ? ` (${size})` : '';
}

function shownValue({ value, unit }: Row): string {
  const spread = value.rounds > 1 ? ` (${formatNumber(value.min)}-${formatNumber(value.max)})` : '';
  return `${formatNumber(value.median)}${unit === '' || unit === 'exponent' ? '' : ` ${unit}`}${spread}`;
}

function loadOf({ noise }: KeptResult): string {
  const share = Math.max(noise.foreignShare, noise.stealShare);
  return `${(share * 100).toFixed(0)} % foreign, ${noise.loadAverage.toFixed(1)}`;
}

function renderMachines(results: readonly KeptResult[]): string {
  const head = ['On', 'At', 'Commit', 'Machine', 'Versions', 'Command'];
  const lines = results.map(({ on, at, machine, command }) => [
    on,
    at.slice(0, 16).replace('T', ' '),
    machine.commit,
    `${machine.cpu}, ${machine.cores} cores, ${Math.round(machine.memoryMiB / 1024)} GiB, Linux ${machine.kernel}`,
    `Node ${machine.node}, PostgreSQL ${machine.postgres}, Temporal ${machine.temporal[on]}, SDK ${machine.packages['@temporalio/worker']}`,
    `\`${command}\``,
  ]);
  return `## Where it was made\n\n${table(head, lines)}`;
}

function renderResult(result: KeptResult): string {
  const lines = result.rows.map((row) => [
    row.figure,
    ...[row.value.median, row.value.min, row.value.max].map(formatNumber),
    row.unit,
    row.target ? `${formatTarget(row.target, 'first')} (${formatTarget(row.target, 'goal')})` : '',
    row.verdict ?? '',
  ]);
  const { foreignShare, stealShare, loadAverage } = result.noise;
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  return [
    `## ${result.name}, ${result.on}`,
    table(['Figure', 'Median', 'Min', 'Max', 'Unit', 'First target (goal)', 'Verdict'], lines),
    [
      `- at worst: foreign load ${percent(foreignShare)}, steal ${percent(stealShare)}, load average ${loadAverage.toFixed(2)}`,
      ...result.asserted.map((text) => `- held: ${text}`),
      ...result.notes.map((text) => `- ${text}`),
    ].join('\n'),
  ].join('\n\n');
}

function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...lines.map(line)].join('\n');
}
