import type { BenchContext } from '../bench.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { fittedExponent, quantile } from '../harness/statistics.ts';
import { addedMiBOf, cpuMsOf, peakMiBOf, type Role } from '../harness/usage.ts';
import { TARGETS, type Target } from '../harness/verdict.ts';
import { startLoad } from '../load/load-client.ts';
import { logIn } from '../product/api.ts';
import { openDatabase } from '../product/database.ts';
import { startProduct } from '../product/product.ts';
import { OWN_ROLES, PRODUCT_ROLES, rolesIn } from '../product/roles.ts';
import { createBareTables, type GrowthRound, type GrowthSetting, growthRound } from '../rounds/growth-rounds.ts';

const SIZES = [1000, 3000, 10_000];
/** Size of the dropped first group, which fills caches and compiles code. */
const WARM_UP = 200;
/** From this size on a round takes minutes. */
const LARGE = 10_000;

interface SizeRounds {
  computers: number;
  enrolSeconds: number;
  rounds: GrowthRound[];
}

/**
 * How the cost of one action grows with its computers, from the smallest to the largest of several sizes: the slope
 * between the logarithms. All agents are real, exchange one after another on 16 connections and do nothing else.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function growth(context: BenchContext): Promise<Report> {
  const { options, resources } = context;
  const stack = await startProduct(context);
  const api = await logIn(stack);
  const database = await openDatabase(context, stack.environment()['FLOTILLA_DATABASE_URL']!);
  await createBareTables(database);
  const load = await startLoad(resources);
  const roles: Role[] = [
    ...stack.roles,
    { name: 'load', roots: () => [load.pid] },
    { name: 'bench', roots: () => [process.pid], alone: true },
  ];
  const setting: GrowthSetting = { api, agentPorts: stack.agentPorts, database, load, roles };
  const ids: number[] = [];
  const enrol = async (computers: number): Promise<number> => {
    const count = computers - ids.length;
    if (count <= 0) return 0;
    context.progress(`enrolling ${count.toLocaleString('en-US')} agents`);
    const prefix = `growth-${computers}`;
    const command = { kind: 'enrol', port: stack.agentPorts, account: api.account, count, prefix } as const;
    const enrolled = await load.run(command);
    ids.push(...enrolled.ids);
    await database.query('vacuum analyze');
    return enrolled.seconds;
  };
  const wanted = options.computers ?? SIZES;
  await enrol(Math.min(WARM_UP, wanted[0]!));
  await growthRound(setting, ids);
  const sizes: SizeRounds[] = [];
  for (const computers of wanted) {
    const enrolSeconds = await enrol(computers);
    const count = computers >= LARGE ? options.longRounds : options.rounds;
    const rounds: GrowthRound[] = [];
    for (let round = 1; round <= count; round++) {
      rounds.push(await growthRound(setting, ids));
      const { doneSeconds } = rounds.at(-1)!;
      context.progress(
        `${computers.toLocaleString('en-US')} computers, round ${round} of ${count}: ${doneSeconds.toFixed(1)} s`,
      );
    }
    sizes.push({ computers, enrolSeconds, rounds });
  }
  return report(context, sizes);
}

type Figure = readonly [name: string, unit: string, of: (round: GrowthRound) => number, growth?: Target];

const FIGURES: readonly Figure[] = [
  ['accepted', 'ms', (r) => r.acceptMs],
  ['all queued', 's', (r) => r.queuedSeconds, TARGETS.timeGrowth],
  ['all done', 's', (r) => r.doneSeconds, TARGETS.timeGrowth],
  ['bare INSERT of the same rows', 's', (r) => r.bareSeconds],
  ['CPU of the product', 's', (r) => cpuMsOf(r.usage, PRODUCT_ROLES) / 1000, TARGETS.timeGrowth],
  ['peak memory, our processes', 'MiB', ({ usage }) => peakMiBOf(usage, OWN_ROLES), TARGETS.memoryGrowth],
];

function report({ options }: BenchContext, sizes: readonly SizeRounds[]): Report {
  const builder = new ReportBuilder();
  for (const { usage } of sizes.flatMap(({ rounds }) => rounds)) builder.window(usage);
  const range = [sizes[0]!, sizes.at(-1)!].map(({ computers }) => computers.toLocaleString('en-US')).join(' to ');
  if (sizes.length > 1) {
    for (const [name, , of, target] of FIGURES) {
      const points = sizes.map(({ computers, rounds }) => ({ size: computers, cost: quantile(rounds.map(of), 0.5) }));
      builder.row(`growth ${range}: ${name}`, 'exponent', [fittedExponent(points)], target);
    }
  }
  for (const size of sizes) addSize(builder, size);
  builder.asserted('every computer has one operation, succeeded, its message sent once');
  builder.note('agents exchange one after another on 16 connections: the cost of a computer, not its schedule');
  builder.note('the exponent is the slope of the medians of all sizes, logarithm over logarithm');
  return builder.finish('growth', sizes, options.judgeAnyway);
}

function addSize(builder: ReportBuilder, { computers, enrolSeconds, rounds }: SizeRounds): void {
  const n = computers.toLocaleString('en-US');
  for (const [name, unit, of] of FIGURES) builder.row(`${n}: ${name}`, unit, rounds.map(of));
  const ratio = rounds.map((r) => r.queuedSeconds / r.bareSeconds);
  builder.row(`${n}: all queued over the bare INSERT`, 'x', ratio, TARGETS.queuedRatio);
  builder.row(
    `${n}: computers per second`,
    '/s',
    rounds.map((r) => computers / r.doneSeconds),
  );
  builder.row(
    `${n}: memory added, our processes`,
    'MiB',
    rounds.map(({ usage }) => addedMiBOf(usage, OWN_ROLES)),
    TARGETS.addedMiB,
  );
  for (const role of rolesIn(rounds[0]!.usage)) {
    const cpu = rounds.map((r) => cpuMsOf(r.usage, [role]) / computers);
    builder.row(`${n}: CPU per computer, ${role}`, 'ms', cpu);
  }
  if (enrolSeconds > 0) builder.row(`${n}: enrolled in`, 's', [enrolSeconds]);
}
