import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { BenchContext } from '../bench.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { linearSlope, quantile, sum } from '../harness/statistics.ts';
import type { Role } from '../harness/usage.ts';
import { measure } from '../harness/usage.ts';
import { TARGETS, type Target } from '../harness/verdict.ts';
import { waitFor } from '../harness/wait.ts';
import { startLoad } from '../load/load-client.ts';
import { API_PREFIX, logIn } from '../product/api.ts';
import { openDatabase, snapTargets } from '../product/database.ts';
import { pingSecondsFor, startFleet } from '../product/fleet.ts';
import { startProduct } from '../product/product.ts';
import { OWN_ROLES } from '../product/roles.ts';
import { hourlyTrend, type SoakWindow, startGroups } from '../rounds/soak-windows.ts';

const COMPUTERS = 500;
/** Of every 25 simulated computers 20 take snaps. */
const SNAPS_SHARE = 20 / 25;
const WINDOWS = 24;
/** With fewer requests, the p99 of a window scattered by more than the allowed trend. */
const LIST_EVERY_MS = 25;
/** Dropped while caches fill. */
const WARM_UP_SHARE = 0.25;
/** In shorter soaks a trend is shown without a verdict, because it would be extrapolated to an hour. */
const VERDICT_MINUTES = 30;
const SETTLE_LIMIT_MS = 300_000;

/**
 * Lists, check-ins and an action on all computers every ten seconds, for the requested time: whether memory, times and
 * tables grow.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function soak(context: BenchContext): Promise<Report> {
  const { options, resources } = context;
  const stack = await startProduct(context);
  const api = await logIn(stack);
  const database = await openDatabase(context, stack.environment()['FLOTILLA_DATABASE_URL']!);
  const wanted = options.computers?.at(-1) ?? COMPUTERS;
  const computers = Math.ceil(wanted / SNAPS_SHARE);
  context.progress(`enrolling ${computers} simulated computers`);
  const pingSeconds = options.pingSeconds ?? Math.max(5, pingSecondsFor(computers));
  const fleet = await startFleet(resources, context.root, stack, {
    computers,
    account: api.account,
    pingSeconds,
    seed: 1,
  });
  const targets = await snapTargets(database, wanted);
  const load = await startLoad(resources);
  const roles: Role[] = [
    ...stack.roles,
    { name: 'fleet (not counted)', roots: () => [fleet.pid] },
    { name: 'load', roots: () => [load.pid] },
    { name: 'bench', roots: () => [process.pid], alone: true },
  ];
  const headers = { Authorization: `Bearer ${api.token}`, Accept: 'application/json' };
  const list = { method: 'GET', path: `${API_PREFIX}/computers?limit=100`, headers, bodies: [] };
  const groups = startGroups(api, targets);
  const windows: SoakWindow[] = [];
  const windowMs = (options.minutes * 60_000) / WINDOWS;
  const from = performance.now();
  for (let window = 1; window <= WINDOWS; window++) {
    const stop = load.probe({ kind: 'probe', port: stack.apiPorts, request: list, everyMs: LIST_EVERY_MS });
    const { usage } = await measure(roles, () => sleep(windowMs));
    const { latencyMs } = await stop();
    const tableBytes = await sizeOfComputers(database);
    windows.push({ hours: (performance.now() - from) / 3_600_000, latencyMs, tableBytes, usage });
    context.progress(`window ${window} of ${WINDOWS}: list p99 ${latencyMs.p99.toFixed(1)} ms`);
  }
  const created = await groups.stop();
  await allSucceeded(database, created, wanted);
  assert.equal(fleet.executions().repeated, 0, 'no operation is executed twice');
  return report(context, windows, created.length, await deadShare(database));
}

/** Bytes of the tables with rows per computer, which must not grow. */
async function sizeOfComputers(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ bytes: string }>(
    `select coalesce(sum(pg_total_relation_size(relid)), 0) as bytes from pg_stat_user_tables
     where relname = 'computer' or relname like 'computer\\_%'`,
  );
  return Number(rows[0]!.bytes);
}

async function deadShare(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ share: number }>(
    `select (sum(n_dead_tup) / greatest(1, sum(n_live_tup + n_dead_tup)))::float8 as share from pg_stat_user_tables`,
  );
  return rows[0]!.share;
}

async function allSucceeded(database: pg.Client, groups: readonly number[], computers: number): Promise<void> {
  const ended = async () => {
    const { rows } = await database.query<{ open: number; succeeded: number }>(
      `select coalesce(sum(open_count), 0)::int as open, coalesce(sum(succeeded_count), 0)::int as succeeded
       from activity where id = any($1::int[])`,
      [groups],
    );
    return rows[0]!.open === 0 ? rows[0]! : null;
  };
  const { succeeded } = await waitFor('the end of every action', ended, { everyMs: 200, limitMs: SETTLE_LIMIT_MS });
  assert.equal(succeeded, groups.length * computers, 'every operation succeeded');
}

function report({ options }: BenchContext, all: readonly SoakWindow[], groups: number, dead: number): Report {
  const builder = new ReportBuilder();
  const windows = all.slice(Math.floor(all.length * WARM_UP_SHARE));
  for (const { usage } of windows) builder.window(usage);
  const target: Target | undefined = options.minutes >= VERDICT_MINUTES ? TARGETS.soakPercent : undefined;
  const trend = (figure: string, of: (window: SoakWindow) => number) => {
    const { percent, error } = hourlyTrend(windows.map((window) => ({ hours: window.hours, value: of(window) })));
    // A figure that scatters by more than the target gets no verdict.
    builder.row(figure, '%/h', [percent], target, error > TARGETS.soakPercent.first);
    builder.row(`${figure}, standard error`, '%/h', [error]);
  };
  const memory = (role: string) => (window: SoakWindow) => window.usage.roles[role]?.startMiB ?? 0;
  trend('memory of our processes, trend', (window) => sum(OWN_ROLES.map((role) => memory(role)(window))));
  trend('list p99, trend', ({ latencyMs }) => latencyMs.p99);
  trend('size of the tables of computers, trend', ({ tableBytes }) => tableBytes);
  for (const role of Object.keys(windows[0]!.usage.roles)) {
    builder.row(`memory, ${role}`, 'MiB', windows.map(memory(role)));
    const slope = linearSlope(windows.map((window) => ({ x: window.hours, y: memory(role)(window) })));
    builder.row(`memory, ${role}, trend`, 'MiB/h', [slope]);
  }
  builder.row(
    'list of 100 computers, p50',
    'ms',
    windows.map(({ latencyMs }) => latencyMs.p50),
  );
  builder.row(
    'list of 100 computers, p99',
    'ms',
    windows.map(({ latencyMs }) => latencyMs.p99),
  );
  builder.row('dead rows at the end', '%', [dead * 100]);
  builder.row('actions on all computers', '', [groups]);
  builder.asserted('every operation of every action succeeded, executed once; no response to a list but 200');
  builder.note(
    `${options.minutes} min in ${WINDOWS} windows, the first ${WARM_UP_SHARE * 100} % of them not looked at`,
  );
  if (!target) builder.note(`trends are carried on to an hour and judged from ${VERDICT_MINUTES} min on only`);
  const worst = quantile(
    windows.map(({ latencyMs }) => latencyMs.max),
    1,
  );
  builder.note(`slowest list ${worst.toFixed(0)} ms`);
  return builder.finish('soak', windows, options.judgeAnyway);
}
