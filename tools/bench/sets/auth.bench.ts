import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { findFreePorts } from '../../stack/processes/ports.ts';
import type { BenchContext } from '../bench.ts';
import { startChild } from '../harness/child.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { interleave } from '../harness/rounds.ts';
import { pairedRatios } from '../harness/statistics.ts';
import { cpuMsOf, measure, type Role, type Usage } from '../harness/usage.ts';
import { TARGETS } from '../harness/verdict.ts';
import type { LoadResult, RepeatRequest } from '../load/load.contract.ts';
import { type LoadClient, startLoad } from '../load/load-client.ts';
import { API_PREFIX, logIn } from '../product/api.ts';
import { startProduct } from '../product/product.ts';
import { PRODUCT_ROLES, rolesIn } from '../product/roles.ts';

interface Round {
  load: LoadResult;
  usage: Usage;
  cpuUsPerRequest: number;
  perCore: number;
}

/** A request with a token and one without, and the same responses from bare Express. */
type Side = 'product' | 'bare' | 'open' | 'bareOpen';

const CONNECTIONS = 16;
/** Needs no token and no rows: its overhead over bare Express applies to every request. */
const OPEN = '/login/methods';

/**
 * A trivial authenticated GET of the product against the same response of a bare Express server.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function auth(context: BenchContext): Promise<Report> {
  const { options, resources } = context;
  const stack = await startProduct(context);
  const api = await logIn(stack);
  const body = JSON.stringify(await api.call<unknown>('GET', '/person'));
  const [barePort] = await findFreePorts(1);
  const bare = await startChild(
    resources,
    fileURLToPath(new URL('../baselines/bare-express.ts', import.meta.url)),
    [],
    {
      BENCH_PORT: String(barePort),
      BENCH_BODY: body,
      BENCH_OPEN_BODY: JSON.stringify(await api.call<unknown>('GET', OPEN)),
    },
  );
  const load = await startLoad(resources);
  const roles: Role[] = [
    ...stack.roles,
    { name: 'baseline', roots: () => [bare.pid!] },
    { name: 'load', roots: () => [load.pid] },
    { name: 'bench', roots: () => [process.pid], alone: true },
  ];
  const headers = { Authorization: `Bearer ${api.token}` };
  const get = (path: string, more: Record<string, string>): RepeatRequest => {
    return { method: 'GET', path, headers: { Accept: 'application/json', ...more }, bodies: [] };
  };
  const product = get(`${API_PREFIX}/person`, headers);
  const run = (port: number, request: RepeatRequest, counted: readonly string[]) => () =>
    oneRound(load, roles, { port, request, seconds: options.seconds }, counted);
  const rounds = await interleave<Round, Record<Side, () => Promise<Round>>>(
    {
      product: run(stack.port, product, PRODUCT_ROLES),
      bare: run(barePort!, get('/bare', headers), ['baseline']),
      open: run(stack.port, get(API_PREFIX + OPEN, {}), PRODUCT_ROLES),
      bareOpen: run(barePort!, get('/open', {}), ['baseline']),
    },
    { rounds: options.rounds, warmUps: 1, onRound: context.progress },
  );
  return report(context, rounds);
}

async function oneRound(
  load: LoadClient,
  roles: readonly Role[],
  command: { port: number; request: RepeatRequest; seconds: number },
  counted: readonly string[],
): Promise<Round> {
  const { result, usage } = await measure(roles, () =>
    load.run({ kind: 'repeat', connections: CONNECTIONS, ...command }),
  );
  const cpuMs = cpuMsOf(usage, counted);
  return {
    load: result,
    usage,
    cpuUsPerRequest: (cpuMs * 1000) / result.requests,
    perCore: result.requests / (cpuMs / 1000),
  };
}

function report(context: BenchContext, rounds: Record<Side, Round[]>): Report {
  const builder = new ReportBuilder();
  for (const round of Object.values(rounds).flat()) builder.window(round.usage);
  const bytes = (list: Round[]) => list.map((round) => round.load.bodyBytes);
  assert.deepEqual(bytes(rounds.product), bytes(rounds.bare), 'both sides must return the same number of bytes');
  assert.deepEqual(bytes(rounds.open), bytes(rounds.bareOpen), 'both sides must return the same number of bytes');
  builder.asserted('no response but 200; both sides return the same number of bytes');
  const per = (list: Round[], pick: (round: Round) => number) => list.map(pick);
  const ratio = pairedRatios(
    per(rounds.product, (r) => r.perCore),
    per(rounds.bare, (r) => r.perCore),
  );
  builder.row('GET /person over bare Express, requests per core', 'x', ratio, TARGETS.authRatio);
  const middleware = rounds.open.map((round, i) => round.cpuUsPerRequest - rounds.bareOpen[i]!.cpuUsPerRequest);
  builder.row(
    'all middleware of a request without token, CPU beyond bare Express',
    'us',
    middleware,
    TARGETS.middlewareUs,
  );
  for (const [name, list] of Object.entries(rounds)) {
    builder.row(
      `${name}: requests per core`,
      '/s',
      per(list, (r) => r.perCore),
    );
    builder.row(
      `${name}: CPU per request`,
      'us',
      per(list, (r) => r.cpuUsPerRequest),
    );
    builder.row(
      `${name}: requests (wall)`,
      '/s',
      per(list, (r) => r.load.requests / r.load.seconds),
    );
    builder.row(
      `${name}: p50`,
      'ms',
      per(list, (r) => r.load.latencyMs.p50),
    );
    builder.row(
      `${name}: p99`,
      'ms',
      per(list, (r) => r.load.latencyMs.p99),
    );
  }
  for (const role of rolesIn(rounds.product[0]!.usage)) {
    const cpu = per(rounds.product, (r) => ((r.usage.roles[role]?.cpuMs ?? 0) * 1000) / r.load.requests);
    builder.row(`product: CPU per request, ${role}`, 'us', cpu);
  }
  builder.note(`${CONNECTIONS} keep-alive connections; CPU of the load process is not counted`);
  return builder.finish('auth', rounds, context.options.judgeAnyway);
}
