import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { findFreePorts } from '../../stack/processes/ports.ts';
import type { BenchContext } from '../bench.ts';
import { startChild } from '../harness/child.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { interleave } from '../harness/rounds.ts';
import { pairedRatios } from '../harness/statistics.ts';
import { cpuMsOf, measure, type Role, type Usage } from '../harness/usage.ts';
import { TARGETS } from '../harness/verdict.ts';
import { waitFor } from '../harness/wait.ts';
import type { LoadResult, Ports } from '../load/load.contract.ts';
import { startLoad } from '../load/load-client.ts';
import { logIn } from '../product/api.ts';
import { openDatabase } from '../product/database.ts';
import { DEFAULT_PING_SECONDS } from '../product/fleet.ts';
import { startProduct } from '../product/product.ts';
import { PRODUCT_ROLES, rolesIn } from '../product/roles.ts';

interface Round {
  load: LoadResult;
  usage: Usage;
  cpuUsPerRequest: number;
  perCore: number;
}

/** Enough that none exceeds the limits for a single misbehaving agent. */
const AGENTS = 3000;
/** Concurrent check-ins: those of a fleet arrive independently, not queued behind a few others. */
const CONNECTIONS = 128;
const FLUSH_LIMIT_MS = 90_000;
const EXCHANGE_SECONDS = 900;
/** A core is full at this share. @see docs/reliability.md#the-benchmark-set */
const FULL_CORE = 0.7;

/**
 * Pings and empty exchanges against a minimal server that commits an UPDATE per check-in, on the same PostgreSQL.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function checkIns(context: BenchContext): Promise<Report> {
  const { options, resources } = context;
  const stack = await startProduct(context);
  const { account } = await logIn(stack);
  const databaseUrl = stack.environment()['FLOTILLA_DATABASE_URL']!;
  const load = await startLoad(resources);
  context.progress(`enrolling ${AGENTS} agents`);
  const { ids } = await load.run({ kind: 'enrol', port: stack.agentPorts, account, count: AGENTS, prefix: 'bench' });
  const database = await openDatabase(context, databaseUrl);
  const bare = await startBaseline(context, database, databaseUrl, ids);
  const roles: Role[] = [
    ...stack.roles,
    { name: 'baseline', roots: () => [bare.pid] },
    { name: 'load', roots: () => [load.pid] },
    { name: 'bench', roots: () => [process.pid], alone: true },
  ];
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const request = { method: 'POST', path: '/ping', headers, bodies: ids.map((id) => `insecure_id=${id}`) };
  const common = { connections: CONNECTIONS, seconds: options.seconds };
  const ping = (port: Ports) => load.run({ kind: 'repeat', port, request, ...common });
  const exchange = () => load.run({ kind: 'exchange', port: stack.agentPorts, ...common });
  const stored = (column: string) => waitUntilStored(database, column);
  const rounds = await interleave<Round, Record<'ping' | 'exchange' | 'bare', () => Promise<Round>>>(
    {
      ping: () => oneRound(roles, PRODUCT_ROLES, () => ping(stack.agentPorts), stored('last_ping_time')),
      exchange: () => oneRound(roles, PRODUCT_ROLES, exchange, stored('last_exchange_time')),
      bare: () => oneRound(roles, ['baseline', 'PostgreSQL'], () => ping(bare.port)),
    },
    { rounds: options.rounds, warmUps: 1, onRound: context.progress },
  );
  return report(context, rounds);
}

/** The window lasts until the server has stored everything: coalescing must not hide work behind its end. */
async function oneRound(
  roles: readonly Role[],
  counted: readonly string[],
  run: () => Promise<LoadResult>,
  stored?: (since: Date, computers: number) => Promise<void>,
): Promise<Round> {
  const { result, usage } = await measure(roles, async () => {
    const since = new Date();
    const done = await run();
    await stored?.(since, done.distinct);
    return done;
  });
  const cpuMs = cpuMsOf(usage, counted);
  return {
    load: result,
    usage,
    cpuUsPerRequest: (cpuMs * 1000) / result.requests,
    perCore: result.requests / (cpuMs / 1000),
  };
}

function waitUntilStored(database: pg.Client, column: string) {
  return async (since: Date, computers: number): Promise<void> => {
    const enough = async () => {
      const { rows } = await database.query<{ n: number }>(
        `select count(*)::int as n from computer_contact where ${column} >= date_trunc('second', $1::timestamptz)`,
        [since],
      );
      return rows[0]!.n >= computers ? true : null;
    };
    await waitFor(`${column} of ${computers} computers`, enough, { everyMs: 200, limitMs: FLUSH_LIMIT_MS });
  };
}

async function startBaseline(context: BenchContext, database: pg.Client, url: string, ids: readonly number[]) {
  await database.query('create database bench_baseline');
  const ownUrl = Object.assign(new URL(url), { pathname: '/bench_baseline' }).href;
  const own = await openDatabase(context, ownUrl);
  await own.query('create table check_in (id int primary key, at timestamptz) with (fillfactor = 50)');
  await own.query('insert into check_in (id) select unnest($1::int[])', [ids]);
  await own.query('vacuum analyze check_in');
  const [port] = await findFreePorts(1);
  const file = fileURLToPath(new URL('../baselines/bare-check-in.ts', import.meta.url));
  const env = { BENCH_PORT: String(port), BENCH_DATABASE_URL: ownUrl };
  const child = await startChild(context.resources, file, [], env);
  return { port: port!, pid: child.pid! };
}

function report(context: BenchContext, rounds: Record<'ping' | 'exchange' | 'bare', Round[]>): Report {
  const builder = new ReportBuilder();
  const per = (list: Round[], pick: (round: Round) => number) => list.map(pick);
  const perCore = (list: Round[]) => per(list, (r) => r.perCore);
  for (const round of Object.values(rounds).flat()) builder.window(round.usage);
  builder.asserted('no response but 200; the time of every computer that checked in was stored in every round');
  const carried = rounds.ping.map((ping, i) => {
    const cpuUsPerSecond =
      ping.cpuUsPerRequest / DEFAULT_PING_SECONDS + rounds.exchange[i]!.cpuUsPerRequest / EXCHANGE_SECONDS;
    return (FULL_CORE * 1_000_000) / cpuUsPerSecond;
  });
  const ratio = (list: Round[]) => pairedRatios(perCore(list), perCore(rounds.bare));
  builder.row('pings over bare Node + UPDATE, per core', 'x', ratio(rounds.ping), TARGETS.checkInRatio);
  builder.row('empty exchanges over bare Node + UPDATE, per core', 'x', ratio(rounds.exchange));
  builder.row('computers per core at 30 s ping, 15 min exchange', '', carried, TARGETS.computersPerCore);
  for (const [name, list] of Object.entries(rounds)) {
    builder.row(`${name}: per core`, '/s', perCore(list));
    builder.row(
      `${name}: CPU`,
      'us',
      per(list, (r) => r.cpuUsPerRequest),
    );
    builder.row(
      `${name}: wall rate`,
      '/s',
      per(list, (r) => r.load.requests / r.load.seconds),
    );
    builder.row(
      `${name}: p99`,
      'ms',
      per(list, (r) => r.load.latencyMs.p99),
    );
    for (const role of name === 'bare' ? ['baseline', 'PostgreSQL'] : rolesIn(list[0]!.usage)) {
      const cpu = per(list, (r) => ((r.usage.roles[role]?.cpuMs ?? 0) * 1000) / r.load.requests);
      builder.row(`${name}: CPU, ${role}`, 'us', cpu);
    }
  }
  builder.note(`${AGENTS} agents, ${CONNECTIONS} connections; a core counts as full at ${FULL_CORE * 100} %`);
  return builder.finish('checkins', rounds, context.options.judgeAnyway);
}
