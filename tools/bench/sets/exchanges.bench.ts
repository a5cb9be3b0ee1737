import assert from 'node:assert/strict';
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
import { processName } from '../load/agents-at-work.ts';
import type { LoadResult } from '../load/load.contract.ts';
import { startLoad } from '../load/load-client.ts';
import { logIn } from '../product/api.ts';
import { openDatabase } from '../product/database.ts';
import { startProduct } from '../product/product.ts';
import { PRODUCT_ROLES, rolesIn } from '../product/roles.ts';

interface Round {
  load: LoadResult;
  usage: Usage;
  cpuMsEach: number;
}

type Side = 'product' | 'bare';

const AGENTS = 200;
const CONNECTIONS = 8;
const MESSAGES = 100;
const BYTES = 1000;
const BODIES = 40;
const BARE_TABLE = `create table reported
  (computer_id int not null, pid int not null, name text not null, state text not null, start_time bigint not null)`;

/**
 * Full exchanges: 100 messages of 1 kB each, decoded, counted and stored row by row, against a bare server that parses
 * as much JSON and inserts as many rows in one statement.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function exchanges(context: BenchContext): Promise<Report> {
  const { options, resources } = context;
  const stack = await startProduct(context);
  const { account } = await logIn(stack);
  const url = stack.environment()['FLOTILLA_DATABASE_URL']!;
  const database = await openDatabase(context, url);
  const load = await startLoad(resources);
  context.progress(`enrolling ${AGENTS} agents`);
  const { ids } = await load.run({ kind: 'enrol', port: stack.agentPorts, account, count: AGENTS, prefix: 'reports' });
  const bare = await startBare(context, database, url);
  const roles: Role[] = [
    ...stack.roles,
    { name: 'baseline', roots: () => [bare.pid] },
    { name: 'load', roots: () => [load.pid] },
    { name: 'bench', roots: () => [process.pid], alone: true },
  ];
  const common = { connections: CONNECTIONS, seconds: options.seconds };
  const request = { method: 'POST', path: '/', headers: { 'Content-Type': 'application/json' }, bodies: bodies(ids) };
  const command = { kind: 'report', port: stack.agentPorts, messages: MESSAGES, bytes: BYTES, ...common } as const;
  const rounds = await interleave<Round, Record<Side, () => Promise<Round>>>(
    {
      product: () => oneRound(roles, PRODUCT_ROLES, () => load.run(command)),
      bare: () =>
        oneRound(roles, ['baseline', 'PostgreSQL'], () =>
          load.run({ kind: 'repeat', port: bare.port, request, ...common }),
        ),
    },
    { rounds: options.rounds, warmUps: 1, onRound: context.progress },
  );
  await assertStored(database, ids);
  return report(context, rounds);
}

function bodies(ids: readonly number[]): string[] {
  return ids.slice(0, BODIES).map((computer, turn) => {
    const name = processName(BYTES, String(turn));
    const messages = Array.from({ length: MESSAGES }, (_, i) => ({
      type: 'active-process-info',
      timestamp: 1_750_000_000,
      ...{ pid: i + 1, name, state: 'S', uid: 0, gid: 0, start: 1_750_000_000 },
    }));
    return JSON.stringify({ computer, messages });
  });
}

async function startBare(context: BenchContext, database: pg.Client, url: string) {
  await database.query('create database bench_baseline');
  const ownUrl = Object.assign(new URL(url), { pathname: '/bench_baseline' }).href;
  const own = await openDatabase(context, ownUrl);
  await own.query(BARE_TABLE);
  const [port] = await findFreePorts(1);
  const file = fileURLToPath(new URL('../baselines/bare-exchange.ts', import.meta.url));
  const env = { BENCH_PORT: String(port), BENCH_DATABASE_URL: ownUrl };
  const child = await startChild(context.resources, file, [], env);
  return { port: port!, pid: child.pid! };
}

async function oneRound(
  roles: readonly Role[],
  counted: readonly string[],
  run: () => Promise<LoadResult>,
): Promise<Round> {
  const { result: load, usage } = await measure(roles, run);
  return { load, usage, cpuMsEach: cpuMsOf(usage, counted) / load.requests };
}

/** Every reported process has its row, with its name in a message of that length. */
async function assertStored(database: pg.Client, ids: readonly number[]): Promise<void> {
  const { rows } = await database.query<{ computers: number; fewest: number; most: number; length: number }>(
    `select count(*)::int as computers, min(n)::int as fewest, max(n)::int as most, min(shortest)::int as length
     from (select count(*) as n, min(length(name)) as shortest from computer_process
       where computer_id = any($1::int[]) group by computer_id) reported`,
    [ids],
  );
  const { computers, fewest, most, length } = rows[0]!;
  assert.ok(computers > 0 && computers <= ids.length);
  assert.deepEqual(
    { fewest, most, length },
    { fewest: MESSAGES, most: MESSAGES, length: processName(BYTES, '').length },
  );
}

function report({ options }: BenchContext, rounds: Record<Side, Round[]>): Report {
  const builder = new ReportBuilder();
  const { product, bare } = rounds;
  for (const { usage } of [...product, ...bare]) builder.window(usage);
  const per = (list: Round[], pick: (round: Round) => number) => list.map(pick);
  const cpu = (list: Round[]) => per(list, (r) => r.cpuMsEach);
  builder.row(
    'full exchange over bare JSON.parse and INSERT, CPU',
    'x',
    pairedRatios(cpu(product), cpu(bare)),
    TARGETS.exchangeRatio,
  );
  builder.row('full exchange: CPU', 'ms', cpu(product));
  builder.row('bare JSON.parse and INSERT: CPU', 'ms', cpu(bare));
  for (const role of rolesIn(product[0]!.usage)) {
    builder.row(
      `full exchange: CPU, ${role}`,
      'ms',
      per(product, (r) => cpuMsOf(r.usage, [role]) / r.load.requests),
    );
  }
  for (const role of ['baseline', 'PostgreSQL']) {
    builder.row(
      `bare: CPU, ${role}`,
      'ms',
      per(bare, (r) => cpuMsOf(r.usage, [role]) / r.load.requests),
    );
  }
  for (const [name, list] of [
    ['full exchange', product],
    ['bare', bare],
  ] as const) {
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
  }
  builder.asserted('no response but 200; every reported process is stored with the name of its message');
  builder.note(
    `${MESSAGES} messages of ${BYTES} bytes an exchange, each with one process whose name is new; ${AGENTS} agents`,
  );
  return builder.finish('exchanges', rounds, options.judgeAnyway);
}
