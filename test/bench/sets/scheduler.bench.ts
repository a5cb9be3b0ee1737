import assert from 'node:assert/strict';
import type pg from 'pg';
import type { BenchContext } from '../bench.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { cpuMsOf } from '../harness/usage.ts';
import { TARGETS } from '../harness/verdict.ts';
import { PRODUCT_ROLES, rolesIn } from '../product/roles.ts';
import { type DueRound, dueRound } from './usg-rounds.ts';
import { prepareUsg } from './usg-setting.ts';

/** They take no part; gateway and API are asked meanwhile. */
const COMPUTERS = 25;
/** Rows that one claim of the bare scheduler takes. */
const CLAIM = 100;

/**
 * Profiles that are all due at one moment, each a Temporal Schedule, against claiming as many rows of a table.
 *
 * @see perf-reliability A3, 13
 */
export async function scheduler(context: BenchContext): Promise<Report> {
  const { profiles } = context.options;
  const setting = await prepareUsg(context, COMPUTERS);
  const claimSeconds = await bareClaim(setting.database, profiles);
  context.progress(`making ${profiles.toLocaleString('en-US')} profiles due at one moment`);
  const due = await dueRound(setting, profiles);
  return report(context, due, claimSeconds);
}

/** The least scheduler: rows that are due are claimed in batches, each committed. */
async function bareClaim(database: pg.Client, count: number): Promise<number> {
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

function report({ options }: BenchContext, due: DueRound, claimSeconds: number): Report {
  const builder = new ReportBuilder();
  builder.window(due.usage);
  const n = due.profiles.toLocaleString('en-US');
  const row = (name: string, unit: string, value: number, target?: (typeof TARGETS)['latenessSeconds']) =>
    builder.row(`${n} due at once: ${name}`, unit, [value], target);
  row('lateness, p99', 's', due.lateness.p99, TARGETS.latenessSeconds);
  row('lateness, p99, over the bare claim', 'x', due.lateness.p99 / claimSeconds);
  row('bare claim of as many rows', 's', claimSeconds);
  row('first run', 's', due.firstSeconds);
  row('lateness, p50', 's', due.lateness.p50);
  row('lateness, max', 's', due.lateness.max);
  row('runs per second', '/s', due.profiles / due.lateness.max);
  row('CPU per run', 'ms', cpuMsOf(due.usage, PRODUCT_ROLES) / due.profiles);
  for (const role of rolesIn(due.usage)) row(`CPU per run, ${role}`, 'ms', cpuMsOf(due.usage, [role]) / due.profiles);
  row('GET /person meanwhile, p99', 'ms', due.probed.api.latencyMs.p99);
  row('ping meanwhile, p99', 'ms', due.probed.ping.latencyMs.p99);
  builder.asserted('one run of each due profile; no answer of gateway and API but 200 meanwhile');
  builder.note('the profiles have no computers: what is measured is that each runs once, and when');
  return builder.finish('scheduler', due, options.judgeAnyway);
}
