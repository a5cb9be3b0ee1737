import type pg from 'pg';
import { createMember } from '../../harness/accounts.ts';
import type { BenchContext } from '../bench.ts';
import { generateActivities } from '../data/activities.ts';
import { generateComputers } from '../data/computers.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { pairedRatios } from '../harness/statistics.ts';
import { TARGETS } from '../harness/verdict.ts';
import { type ActivityFacts, activityCases } from '../lists/activity-cases.ts';
import type { CaseFigures } from '../lists/compare.ts';
import { type ListFigures, measureLists } from '../lists/list-bench.ts';
import { addCases, addWorst, wallRatios } from '../lists/list-report.ts';

const COMPUTERS = 10_000;

/**
 * Pages of GET /activities and /activities/parents out of a year of activities, with filters and deep offsets, against
 * the bare SQL of the same rows.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function activities(context: BenchContext): Promise<Report> {
  const size = context.options.activities;
  const computers = context.options.computers?.at(-1) ?? COMPUTERS;
  const figures = await measureLists(context, size, {
    async fill({ db }, accountId) {
      const now = new Date();
      await generateComputers(db, { accountId, computers, now });
      await generateActivities(db, { accountId, activities: size, now });
    },
    async restrict({ db }, accountId) {
      const [group] = await db.query<{ name: string }>(`select name from (${RESTRICTED_GROUP}) g`, [accountId]);
      const member = { accountId, email: 'restricted@fleet.example', role: 'SupportAnalyst' };
      return createMember(db, { ...member, groups: [group!.name] });
    },
    cases: async (database, accountId) => activityCases(await readFacts(database, accountId)),
  });
  return report(context, figures);
}

/** The access group with the most computers among those without computers below them. */
const RESTRICTED_GROUP = `select g.id, g.name from access_group g join computer c on c.access_group_id = g.id
  where g.account_id = $1 and not exists (select from access_group below where below.parent_id = g.id)
  group by g.id order by count(*) desc, g.id limit 1`;

async function readFacts(database: pg.Client, accountId: number): Promise<ActivityFacts> {
  const { rows } = await database.query<ActivityFacts>(
    `select account_id as "accountId", count(*)::int as total, (count(*) filter (where parent_id is null))::int as parents,
       (array_agg(computer_id) filter (where computer_id is not null))[1] as computer,
       (select id from activity where account_id = $1 and children_count between 200 and 5000 order by id limit 1) as parent,
       to_char((max(creation_time) - interval '3 days') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI') as recently,
       (select g.id from (${RESTRICTED_GROUP}) g) as "group"
     from activity where account_id = $1 group by account_id`,
    [accountId],
  );
  return rows[0]!;
}

function report(context: BenchContext, figures: ListFigures): Report {
  const builder = new ReportBuilder();
  const { cases } = figures;
  const named = (name: string) => cases.filter((found) => found.name === name);
  const of = (family: CaseFigures['family']) => cases.filter((found) => found.family === family);
  builder.row('generated in', 's', [figures.fillSeconds]);
  addWorst(builder, 'over bare SQL', 'x', named('page of 1,000'), wallRatios, TARGETS.activityPageRatio);
  addWorst(builder, 'over bare SQL', 'x', named('parents, page of 1,000'), wallRatios, TARGETS.activityPageRatio);
  const restricted = cases.filter(({ name }) => name.startsWith('restricted'));
  addWorst(builder, 'over bare SQL, seeing one access group', 'x', restricted, wallRatios, TARGETS.activityPageRatio);
  addWorst(builder, 'worst selector over bare SQL', 'x', of('selector'), wallRatios, TARGETS.selectorRatio);
  addWorst(builder, 'slowest selector, p50', 'ms', of('selector'), p50s, TARGETS.selectorMs);
  addDepth(
    builder,
    named('page of 1,000')[0],
    of('offset').filter(({ name }) => !name.startsWith('parents')),
    'offset',
  );
  addDepth(builder, named('page of 1,000')[0], named('limit=1'), 'one row and the count');
  const parents = of('offset').filter(({ name }) => name.startsWith('parents'));
  addDepth(builder, named('parents, page of 1,000')[0], parents, 'offset of parents');
  addCases(builder, figures);
  if (figures.unserved.length > 0) builder.note(`not served yet: ${figures.unserved.join('; ')}`);
  builder.asserted('every page equals the bare rows: the same activities, children, counters and count');
  builder.note(
    'bare SQL: the rows of the page, their exact number and their children by plain statements, kept as text',
  );
  return builder.finish('activities', figures, context.options.judgeAnyway);
}

function addDepth(
  builder: ReportBuilder,
  first: CaseFigures | undefined,
  deep: readonly CaseFigures[],
  label: string,
): void {
  if (!first) return;
  const target = label.startsWith('offset') ? TARGETS.deepOffsetRatio : TARGETS.countRatio;
  addWorst(
    builder,
    `${label}, over the first page`,
    'x',
    deep,
    (found) => pairedRatios(p50s(found), p50s(first)),
    target,
  );
}

function p50s({ product }: CaseFigures): number[] {
  return product.map(({ p50 }) => p50);
}
