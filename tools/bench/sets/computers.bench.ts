import type { BenchContext } from '../bench.ts';
import { generateComputers } from '../data/computers.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { pairedRatios } from '../harness/statistics.ts';
import { TARGETS } from '../harness/verdict.ts';
import type { CaseFigures } from '../lists/compare.ts';
import { computerCases } from '../lists/computer-cases.ts';
import { type ListFigures, measureLists } from '../lists/list-bench.ts';
import { addCases, addGrowth, addWorst, wallRatios } from '../lists/list-report.ts';

const SIZES = [1000, 10_000, 100_000];

/** Contact times are based on this far ahead: without pings, computers must not become offline one by one. */
const LASTS_MS = 3 * 3600_000;

/**
 * Pages of GET /computers, every family of selectors and every block, against the bare SQL of the same rows.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function computers(context: BenchContext): Promise<Report> {
  const sizes: ListFigures[] = [];
  for (const size of context.options.computers ?? SIZES) {
    const figures = await measureLists(context, size, {
      fill: async ({ db }, accountId) =>
        void (await generateComputers(db, { accountId, computers: size, now: new Date(Date.now() + LASTS_MS) })),
      cases: (_database, accountId) => computerCases(accountId, size),
    });
    sizes.push(figures);
  }
  return report(context, sizes);
}

function report(context: BenchContext, sizes: readonly ListFigures[]): Report {
  const builder = new ReportBuilder();
  for (const figures of sizes) addSummary(builder, figures);
  addGrowth(builder, sizes);
  addCases(builder, sizes.at(-1)!);
  const unserved = [...new Set(sizes.flatMap((figures) => figures.unserved))];
  if (unserved.length > 0) builder.note(`not served yet: ${unserved.join('; ')}`);
  builder.asserted('every page equals the bare rows: the same computers, fields, children and count');
  builder.note('bare SQL: the rows of the page, their number and their children by plain statements, kept as text');
  builder.note('narrow cases return few rows, so that the price of any HTTP request decides their ratio');
  return builder.finish('computers', sizes, context.options.judgeAnyway);
}

function addSummary(builder: ReportBuilder, { size, cases, fillSeconds }: ListFigures): void {
  const at = size.toLocaleString('en-US');
  const of = (...families: Array<CaseFigures['family']>) => cases.filter(({ family }) => families.includes(family));
  const named = (name: string) => cases.filter((figures) => figures.name === name);
  const selectors = of('selector');
  builder.row(`${at} computers generated in`, 's', [fillSeconds]);
  addWorst(builder, `${at}: over bare SQL`, 'x', named('page of 1,000'), wallRatios, TARGETS.pageRatio);
  addWorst(builder, `${at}: worst selector over bare SQL`, 'x', selectors, wallRatios, TARGETS.selectorRatio);
  addWorst(builder, `${at}: slowest selector, p50`, 'ms', of('selector', 'narrow'), p50s, TARGETS.selectorMs);
  addWorst(builder, `${at}: worst narrow selector over bare SQL`, 'x', of('narrow'), wallRatios);
  addWorst(builder, `${at}: worst block over bare SQL`, 'x', of('block'), wallRatios);
  addWorst(
    builder,
    `${at}: statements`,
    '',
    named('with_* all on'),
    ({ statements }) => [statements],
    TARGETS.pageStatements,
  );
  const [page] = named('page of 1,000');
  const [alone] = named('limit=1');
  if (page && alone) {
    builder.row(
      `${at}: one row and the count over a page`,
      'x',
      pairedRatios(p50s(alone), p50s(page)),
      TARGETS.countRatio,
    );
    const deep = (figures: CaseFigures) => pairedRatios(p50s(figures), p50s(page));
    addWorst(builder, `${at}: deepest over offset 0`, 'x', of('offset'), deep, TARGETS.deepOffsetRatio);
  }
}

function p50s({ product }: CaseFigures): number[] {
  return product.map(({ p50 }) => p50);
}
