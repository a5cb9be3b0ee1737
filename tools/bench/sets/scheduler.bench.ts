import assert from 'node:assert/strict';
import type pg from 'pg';
import type { BenchContext } from '../bench.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { pairedRatios } from '../harness/statistics.ts';
import { cpuMsOf } from '../harness/usage.ts';
import { TARGETS, type Target } from '../harness/verdict.ts';
import { PRODUCT_ROLES, type ProductRole, rolesIn } from '../product/roles.ts';
import { type DueRound, dueRounds } from '../rounds/due-rounds.ts';
import { prepareUsg } from '../rounds/usg-setting.ts';

/** Not involved; gateway and API are probed meanwhile. */
const COMPUTERS = 25;
const CLAIM = 100;
/** From so many profiles on a round takes minutes. */
const LARGE = 5000;

/**
 * Profiles that are all due at one moment, each a Temporal Schedule, against claiming as many rows of a table.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function scheduler(context: BenchContext): Promise<Report> {
  const { options, progress } = context;
  const { profiles } = options;
  const setting = await prepareUsg(context, COMPUTERS);
  const dueRound = dueRounds(setting, profiles);
  const rounds = profiles >= LARGE ? options.longRounds : options.rounds;
  const due: DueRound[] = [];
  const claimSeconds: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    progress(`round ${round} of ${rounds}: ${profiles.toLocaleString('en-US')} profiles due at one moment`);
    claimSeconds.push(await bareClaim(setting.database, profiles));
    due.push(await dueRound());
  }
  return report(context, due, claimSeconds);
}

/** A minimal scheduler: due rows are claimed in batches, each committed. @returns seconds */
async function bareClaim(database: pg.Client, count: number): Promise<number> {
  await database.query('drop table if exists bench_due');
  await database.query('create table bench_due (id int primary key, at timestamptz not null, claimed_at timestamptz)');
  await database.query('insert into bench_due (id, at) select n, now() from generate_series(1, $1::int) n', [count]);
  await database.query('create index on bench_due (at) where claimed_at is null');
  await database.query('analyze bench_due');
  const from = performance.now();
  let claimed = 0;
  for (;;) {
    const { rowCount } = await database.query(
      `update bench_due set claimed_at = now() where id in (
         select id from bench_due where claimed_at is null and at <= now() order by at limit $1 for update skip locked)`,
      [CLAIM],
    );
    claimed += rowCount!;
    if (rowCount === 0) break;
  }
  assert.equal(claimed, count, 'every row is claimed once');
  return (performance.now() - from) / 1000;
}

function report({ options }: BenchContext, due: readonly DueRound[], claimSeconds: readonly number[]): Report {
  const builder = new ReportBuilder();
  for (const { usage } of due) builder.window(usage);
  const { profiles, usage } = due[0]!;
  const row = (name: string, unit: string, samples: readonly number[], target?: Target) =>
    builder.row(`${profiles.toLocaleString('en-US')} due at once: ${name}`, unit, samples, target);
  const p99 = due.map((round) => round.lateness.p99);
  row('lateness, p99', 's', p99, TARGETS.latenessSeconds);
  row('lateness, p99, over the bare claim', 'x', pairedRatios(p99, claimSeconds));
  row('bare claim of as many rows', 's', claimSeconds);
  for (const [name, unit, of] of figuresOf(rolesIn(usage))) row(name, unit, due.map(of));
  builder.asserted('one run of each due profile; no response of gateway and API but 200 meanwhile');
  builder.note('the profiles have no computers: what is measured is that each runs once, and when');
  return builder.finish('scheduler', { due, claimSeconds }, options.judgeAnyway);
}

function figuresOf(
  roles: readonly ProductRole[],
): ReadonlyArray<readonly [name: string, unit: string, of: (round: DueRound) => number]> {
  return [
    ['first run', 's', (r) => r.firstSeconds],
    ['lateness, p50', 's', (r) => r.lateness.p50],
    ['lateness, max', 's', (r) => r.lateness.max],
    ['runs per second', '/s', (r) => r.profiles / r.lateness.max],
    ['CPU per run', 'ms', (r) => cpuMsOf(r.usage, PRODUCT_ROLES) / r.profiles],
    ...roles.map(
      (role) => [`CPU per run, ${role}`, 'ms', (r: DueRound) => cpuMsOf(r.usage, [role]) / r.profiles] as const,
    ),
    ['GET /person meanwhile, p99', 'ms', (r) => r.probed.api.latencyMs.p99],
    ['ping meanwhile, p99', 'ms', (r) => r.probed.ping.latencyMs.p99],
  ];
}
