import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from '../bench.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { cpuMsOf, measure, type Role, type Usage } from '../harness/usage.ts';
import { TARGETS } from '../harness/verdict.ts';
import { startLoad } from '../load/load-client.ts';
import { logIn } from '../product/api.ts';
import { openDatabase } from '../product/database.ts';
import { startProduct } from '../product/product.ts';
import { PRODUCT_ROLES, rolesIn } from '../product/roles.ts';

const COMPUTERS = 10_000;
/** Until then V8 collects what the start left, autovacuum follows the enrolment, and its statements are written. */
const SETTLE_MS = 300_000;
/** Whole minutes contain the housekeeping of each minute. */
const WINDOW_MS = 60_000;

/**
 * Processor time of a product that has nothing to do: without computers, and with computers that are registered and
 * silent.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function idle(context: BenchContext): Promise<Report> {
  const { options, resources } = context;
  const stack = await startProduct(context);
  const { account } = await logIn(stack);
  const roles: Role[] = [...stack.roles, { name: 'bench', roots: () => [process.pid], alone: true }];
  const empty = await windows(context, roles, 'without computers');
  const load = await startLoad(resources);
  const count = options.computers?.[0] ?? COMPUTERS;
  context.progress(`enrolling ${count} agents`);
  await load.run({ kind: 'enrol', port: stack.agentPorts, account, count, prefix: 'idle' });
  await load.close();
  const filled = await windows(context, roles, `with ${count} computers`);
  const database = await openDatabase(context, stack.environment()['FLOTILLA_DATABASE_URL']!);
  const { rows: left } = await database.query(
    `select (select count(*)::int from computer) as computers, count(*)::int as open from lane where closed_at is null`,
  );
  assert.deepEqual({ ...left[0] }, { computers: count, open: 0 });
  const builder = new ReportBuilder();
  for (const usage of [...empty, ...filled]) builder.window(usage);
  rows(builder, 'without computers', empty);
  rows(builder, `with ${count.toLocaleString('en')} registered computers`, filled);
  builder.asserted('every computer was registered; no action was open');
  builder.note('windows of a minute, after five minutes of rest; all processes of the product together, of one core');
  return builder.finish('idle', { empty, filled }, options.judgeAnyway);
}

async function windows(context: BenchContext, roles: readonly Role[], name: string): Promise<Usage[]> {
  await sleep(SETTLE_MS);
  const found: Usage[] = [];
  for (let round = 1; round <= context.options.longRounds; round++) {
    context.progress(`idle ${name}, round ${round} of ${context.options.longRounds}`);
    found.push((await measure(roles, () => sleep(WINDOW_MS), { peaks: 'ends' })).usage);
  }
  return found;
}

function rows(builder: ReportBuilder, name: string, usages: readonly Usage[]): void {
  const share = (names: readonly string[]) => usages.map((usage) => (100 * cpuMsOf(usage, names)) / usage.wallMs);
  builder.row(`idle ${name}`, '% of a core', share(PRODUCT_ROLES), TARGETS.idlePercent);
  for (const role of rolesIn(usages[0]!)) builder.row(`idle ${name}, ${role}`, '% of a core', share([role]));
}
