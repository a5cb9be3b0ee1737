import type pg from 'pg';
import type { BenchContext } from '../bench.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { interleave } from '../harness/rounds.ts';
import { type Latency, latency, pairedRatios } from '../harness/statistics.ts';
import { cpuMsOf, measure, type Role, type Usage } from '../harness/usage.ts';
import { waitFor } from '../harness/wait.ts';
import { startLoad } from '../load/load-client.ts';
import { type Api, logIn } from '../product/api.ts';
import { openDatabase } from '../product/database.ts';
import { AGENT_TIMES, DEFAULT_PING_SECONDS, startFleet } from '../product/fleet.ts';
import { startProduct } from '../product/product.ts';
import { PRODUCT_ROLES } from '../product/roles.ts';

type Side = 'without' | 'with';
type Sided<T> = Record<Side, () => Promise<T>>;

/** Intervals of the open client. */
const NORMAL = { ping: DEFAULT_PING_SECONDS, urgent_exchange: 60, exchange: 900 };
const FAST_SECONDS = 10;
/** Computers that may poll fast at a time, by default. */
const FAST_AGENTS = 1000;
const POLLING = 3000;
const CONNECTIONS = 128;
const FULL_CORE = 0.7;
/** Simulated agents, each with one action in a round. */
const ACTING = 20;
const END_LIMIT_MS = 300_000;

interface Cost {
  /** Processor time in microseconds. */
  ping: number;
  exchange: number;
  usage: Usage[];
}

/**
 * Single actions on agents with the intervals of the open client, with and without the preference `agent_intervals`,
 * and what polling then costs.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function intervals(context: BenchContext): Promise<Report> {
  const { options, resources, root } = context;
  const stack = await startProduct(context);
  const api = await logIn(stack);
  const database = await openDatabase(context, stack.environment()['FLOTILLA_DATABASE_URL']!);
  const load = await startLoad(resources);
  const command = { computers: ACTING, account: api.account, pingSeconds: 1, seed: 7 };
  context.progress(`enrolling ${ACTING} simulated and ${POLLING} minimal agents`);
  const fleet = await startFleet(resources, root, stack, command);
  const acting = await api.computerIds();
  const enrol = { kind: 'enrol', port: stack.agentPorts, account: api.account, prefix: 'poll' } as const;
  const { ids } = await load.run({ ...enrol, count: POLLING });
  await fleet.setPing(NORMAL.ping, NORMAL.urgent_exchange);
  const roles: Role[] = [
    ...stack.roles,
    { name: 'agents', roots: () => [fleet.pid, load.pid] },
    { name: 'bench', roots: () => [process.pid], alone: true },
  ];
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const request = { method: 'POST', path: '/ping', headers, bodies: ids.map((id) => `insecure_id=${id}`) };
  const common = { port: stack.agentPorts, connections: CONNECTIONS, seconds: options.seconds };
  const cost = async (side: Side): Promise<Cost> => {
    await prefer(api, side);
    // Each computer is sent the values once.
    await load.run({ kind: 'exchange', ...common });
    const ping = await measure(roles, () => load.run({ kind: 'repeat', request, ...common }));
    const exchange = await measure(roles, () => load.run({ kind: 'exchange', ...common }));
    const each = ({ result, usage }: typeof ping) => (cpuMsOf(usage, PRODUCT_ROLES) * 1000) / result.requests;
    return { ping: each(ping), exchange: each(exchange), usage: [ping.usage, exchange.usage] };
  };
  const sides = <T>(run: (side: Side) => Promise<T>) => ({ without: () => run('without'), with: () => run('with') });
  const costs = await interleave<Cost, Sided<Cost>>(sides(cost), {
    rounds: options.rounds,
    warmUps: 1,
    onRound: context.progress,
  });
  const act = async (side: Side) => {
    await prefer(api, side);
    return actOnEach(api, database, acting);
  };
  const waits = await interleave<Latency, Sided<Latency>>(sides(act), {
    rounds: options.longRounds,
    warmUps: 0,
    onRound: context.progress,
  });
  return report(context, costs, waits);
}

function prefer(api: Api, side: Side): Promise<unknown> {
  return api.call('PATCH', '/preferences', { agent_intervals: side === 'with' ? NORMAL : null });
}

/** One action on each computer. From the acceptance to the arrival of the result, in seconds. */
async function actOnEach(api: Api, database: pg.Client, computers: readonly number[]): Promise<Latency> {
  const groups: number[] = [];
  for (const id of computers) {
    const body = { action: 'install', computer_ids: [id], snaps: [{ name: 'hello-world' }] };
    groups.push((await api.call<{ id: number }>('POST', '/snaps', body)).id);
  }
  const ended = async () => {
    const { rows } = await database.query<{ seconds: number }>(
      `select extract(epoch from completion_time - creation_time)::float8 as seconds from activity
       where parent_id = any($1) and status = 'succeeded'`,
      [groups],
    );
    return rows.length === computers.length ? rows.map(({ seconds }) => seconds) : null;
  };
  return latency(await waitFor('the results', ended, { everyMs: 500, limitMs: END_LIMIT_MS }));
}

function report({ options }: BenchContext, costs: Record<Side, Cost[]>, waits: Record<Side, Latency[]>): Report {
  const builder = new ReportBuilder();
  for (const { usage } of [...costs.without, ...costs.with]) for (const window of usage) builder.window(window);
  const medians = (side: Side) => waits[side].map(({ p50 }) => p50);
  builder.row('POST to result, with over without, p50', 'x', pairedRatios(medians('with'), medians('without')));
  for (const [side, list] of Object.entries(waits)) {
    for (const quantile of ['p50', 'max'] as const) {
      builder.row(
        `POST to result, ${side}, ${quantile}`,
        's',
        list.map((wait) => wait[quantile]),
      );
    }
  }
  const idle = ({ ping, exchange }: Cost) => ping / NORMAL.ping + exchange / NORMAL.exchange;
  const carried = (list: Cost[], busy: number) =>
    list.map((cost) => {
      const extra = busy * (cost.ping / FAST_SECONDS - cost.ping / NORMAL.ping);
      return (FULL_CORE * 1_000_000 - extra) / idle(cost);
    });
  builder.row('computers per core, without', '', carried(costs.without, 0));
  builder.row('computers per core, with', '', carried(costs.with, 0));
  builder.row(`computers per core, with, ${FAST_AGENTS} of them fast`, '', carried(costs.with, FAST_AGENTS));
  for (const [side, list] of Object.entries(costs)) {
    for (const kind of ['ping', 'exchange'] as const) {
      builder.row(
        `${kind}, ${side}: CPU`,
        'us',
        list.map((cost) => cost[kind]),
      );
    }
  }
  const work = `work ${AGENT_TIMES.operationSeconds} s`;
  builder.note(`agents ping every 30 s and exchange after 60 s or 15 min, with the preference too, and ${work}`);
  builder.note(`${ACTING} computers with an action each at a random moment of their intervals`);
  builder.note(`${POLLING} other computers poll; a core counts as full at ${FULL_CORE * 100} %`);
  return builder.finish('intervals', costs, options.judgeAnyway);
}
