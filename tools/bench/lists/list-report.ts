import type { ReportBuilder } from '../harness/report.ts';
import { growthExponent, pairedRatios, quantile } from '../harness/statistics.ts';
import type { Target } from '../harness/verdict.ts';
import type { CaseFigures, SideFigures } from './compare.ts';
import type { ListFigures } from './list-bench.ts';

/** Ratios of wall time, round by round. */
export function wallRatios({ product, bare }: CaseFigures): number[] {
  return pairedRatios(
    product.map(({ p50 }) => p50),
    bare.map(({ p50 }) => p50),
  );
}

/** Median time of the product's page. */
export function medianMs(figures: CaseFigures): number {
  return quantile(
    figures.product.map(({ p50 }) => p50),
    0.5,
  );
}

/** Adds every case of one size to the table: ratio to the bare SQL, and time. */
export function addCases(builder: ReportBuilder, { size, cases }: ListFigures): void {
  for (const figures of cases) {
    const pick = (sides: readonly SideFigures[], key: 'p50' | 'p95' | 'cpuMs') => sides.map((side) => side[key]);
    const name = `${size.toLocaleString('en-US')}: ${figures.name} (${figures.count.toLocaleString('en-US')})`;
    builder.row(`${name}, over bare SQL`, 'x', wallRatios(figures));
    builder.row(`${name}, p50`, 'ms', pick(figures.product, 'p50'));
    builder.row(`${name}, p95`, 'ms', pick(figures.product, 'p95'));
    builder.row(`${name}, bare p50`, 'ms', pick(figures.bare, 'p50'));
    builder.row(`${name}, CPU`, 'ms', pick(figures.product, 'cpuMs'));
    builder.row(`${name}, bare CPU`, 'ms', pick(figures.bare, 'cpuMs'));
    for (const { usage } of [...figures.product, ...figures.bare]) builder.window(usage);
  }
}

/** Adds the worst case by a measure, named in the row. */
export function addWorst(
  builder: ReportBuilder,
  label: string,
  unit: string,
  cases: readonly CaseFigures[],
  measure: (figures: CaseFigures) => readonly number[],
  target?: Target,
): void {
  const worst = cases.toSorted((a, b) => quantile(measure(b), 0.5) - quantile(measure(a), 0.5))[0];
  if (worst) builder.row(`${label}: ${worst.name}`, unit, measure(worst), target);
}

/** Adds the steepest growth of a page's time with the number of rows, between the fewest and the most rows. */
export function addGrowth(builder: ReportBuilder, sizes: readonly ListFigures[]): void {
  const [small, large] = [sizes[0], sizes.at(-1)];
  if (!small || !large || small === large) return;
  const grown = large.cases.flatMap((figures) => {
    const before = small.cases.find(({ name }) => name === figures.name);
    if (!before) return [];
    const cost = { small: medianMs(before), large: medianMs(figures) };
    return [
      {
        name: figures.name,
        exponent: growthExponent({ size: small.size, cost: cost.small }, { size: large.size, cost: cost.large }),
      },
    ];
  });
  const steepest = grown.toSorted((a, b) => b.exponent - a.exponent)[0];
  if (steepest) builder.row(`growth of the steepest case, time ~ rows^e: ${steepest.name}`, '', [steepest.exponent]);
  const plain = grown.find(({ name }) => name.startsWith('page'));
  if (plain) builder.row(`growth of a plain page, time ~ rows^e`, '', [plain.exponent]);
}
