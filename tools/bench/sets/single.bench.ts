import assert from 'node:assert/strict';
import type pg from 'pg';
import { startNoOps } from '../baselines/no-op-client.ts';
import type { BenchContext } from '../bench.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { interleave } from '../harness/rounds.ts';
import { type Latency, pairedRatios } from '../harness/statistics.ts';
import { cpuMsOf, measure, type Role, type Usage } from '../harness/usage.ts';
import { TARGETS } from '../harness/verdict.ts';
import { waitFor } from '../harness/wait.ts';
import type { SingleCommand } from '../load/load.contract.ts';
import { startLoad } from '../load/load-client.ts';
import { API_PREFIX, logIn } from '../product/api.ts';
import { openDatabase } from '../product/database.ts';
import { startProduct } from '../product/product.ts';
import { PRODUCT_ROLES, rolesIn } from '../product/roles.ts';

const PARALLEL = 100;
/** Rare enough that actions are measured and not the pings in between; real agents ping every half minute. */
const PING_MS = 500;
/** As an agent that polls at once. */
const EAGER_PING_MS = 5;
/** Actions one after another per second of a round: so many that what the load before left to do weighs little. */
const ALONE_PER_SECOND = 30;
const SETTLE_LIMIT_MS = 60_000;

type Side = 'single' | 'alone' | 'noOp' | 'bareGroup';

interface Round {
  perSecond: number;
  cpuMsEach: number;
  /** From POST until the agent's report was accepted, or its success was visible. */
  latency: Latency | null;
  count: number;
  usage: Usage;
}

/**
 * Actions on one computer each, from POST over the agent's own exchanges until their batches have closed, against bare
 * no-op workflows on the same Temporal server, and against a bare pair of group and batch, the lower bound for any
 * action.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function single(context: BenchContext): Promise<Report> {
  const { options, resources } = context;
  const stack = await startProduct(context);
  const api = await logIn(stack);
  const environment = stack.environment();
  const database = await openDatabase(context, environment['FLOTILLA_DATABASE_URL']!);
  const noOps = await startNoOps(resources, environment);
  const load = await startLoad(resources);
  context.progress(`enrolling ${PARALLEL} agents`);
  const enrol = { kind: 'enrol', port: stack.agentPorts, account: api.account, prefix: 'single' } as const;
  await load.run({ ...enrol, count: PARALLEL });
  const roles: Role[] = [
    ...stack.roles,
    { name: 'no-op worker', roots: () => [noOps.pid] },
    { name: 'load', roots: () => [load.pid] },
    { name: 'bench', roots: () => [process.pid], alone: true },
  ];
  const count = options.seconds * 60;
  const concurrent: SingleCommand = {
    kind: 'single',
    port: stack.agentPorts,
    apiPort: stack.apiPorts,
    path: `${API_PREFIX}/snaps`,
    headers: { Authorization: `Bearer ${api.token}`, 'Content-Type': 'application/json' },
    ...{ count, parallel: PARALLEL, pingMs: PING_MS, until: 'reported' },
  };
  const oneByOne = { count: options.seconds * ALONE_PER_SECOND, parallel: 1, pingMs: EAGER_PING_MS } as const;
  const act = async (command: SingleCommand): Promise<Round> => {
    const before = await lastActivity(database);
    const { result, usage } = await measure(roles, async () => {
      const { latencyMs } = await load.run(command);
      await settled(database, before, command.count);
      return latencyMs;
    });
    return roundOf(command.count, usage, PRODUCT_ROLES, result);
  };
  const bare = async (workflow: 'noOp' | 'bareGroup'): Promise<Round> => {
    const { usage } = await measure(roles, () => noOps.run({ count, parallel: PARALLEL, workflow }));
    return roundOf(count, usage, NO_OP_ROLES, null);
  };
  const rounds = await interleave<Round, Record<Side, () => Promise<Round>>>(
    {
      single: () => act(concurrent),
      alone: () => act({ ...concurrent, ...oneByOne, until: 'visible' }),
      noOp: () => bare('noOp'),
      bareGroup: () => bare('bareGroup'),
    },
    { rounds: options.rounds, warmUps: 1, onRound: context.progress },
  );
  return report(context, rounds);
}

const NO_OP_ROLES = ['Temporal', 'PostgreSQL', 'no-op worker'];

function roundOf(count: number, usage: Usage, roles: readonly string[], latency: Latency | null): Round {
  return { count, perSecond: (count * 1000) / usage.wallMs, cpuMsEach: cpuMsOf(usage, roles) / count, latency, usage };
}

async function lastActivity(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ last: number }>('select coalesce(max(id), 0)::int as last from activity');
  return rows[0]!.last;
}

/** Every group and operation created since has succeeded, each with one message sent once, and no batch is open. */
async function settled(database: pg.Client, since: number, count: number): Promise<void> {
  const ended = async () => {
    const { rows } = await database.query<{ open: number }>(
      `select count(*)::int as open from lane l join activity a on a.id = l.parent_id
       where a.id > $1 and l.closed_at is null`,
      [since],
    );
    return rows[0]!.open === 0 ? true : null;
  };
  await waitFor('the end of every workflow', ended, { everyMs: 20, limitMs: SETTLE_LIMIT_MS });
  const { rows } = await database.query<Record<string, number>>(
    `select count(*)::int as children, count(*) filter (where c.status = 'succeeded')::int as succeeded,
       count(*) filter (where m.send_count = 1)::int as sent_once
     from activity c left join agent_message m on m.activity_id = c.id where c.id > $1 and c.parent_id is not null`,
    [since],
  );
  assert.deepEqual({ ...rows[0] }, { children: count, succeeded: count, sent_once: count });
}

function report({ options }: BenchContext, rounds: Record<Side, Round[]>): Report {
  const builder = new ReportBuilder();
  const { single: product, alone, noOp, bareGroup } = rounds;
  for (const { usage } of [...product, ...alone, ...noOp, ...bareGroup]) builder.window(usage);
  const per = (list: Round[], pick: (round: Round) => number) => list.map(pick);
  const rate = (list: Round[]) => per(list, (r) => r.perSecond);
  const cpu = (list: Round[]) => per(list, (r) => r.cpuMsEach);
  builder.row(
    'single actions over no-op workflows, per second',
    'x',
    pairedRatios(rate(product), rate(noOp)),
    TARGETS.singlePerNoop,
  );
  builder.row('bare groups over no-op workflows, per second', 'x', pairedRatios(rate(bareGroup), rate(noOp)));
  builder.row('single actions over bare groups, per second', 'x', pairedRatios(rate(product), rate(bareGroup)));
  builder.row('no-op workflow over single action, CPU', 'x', pairedRatios(cpu(noOp), cpu(product)));
  builder.row('single actions per second', '/s', rate(product));
  builder.row('no-op workflows per second', '/s', rate(noOp));
  builder.row('bare groups per second', '/s', rate(bareGroup));
  builder.row('CPU per single action', 'ms', cpu(product));
  for (const role of rolesIn(product[0]!.usage)) {
    builder.row(
      `CPU per single action, ${role}`,
      'ms',
      per(product, (r) => cpuMsOf(r.usage, [role]) / r.count),
    );
  }
  builder.row('CPU per no-op workflow', 'ms', cpu(noOp));
  builder.row('CPU per bare group', 'ms', cpu(bareGroup));
  for (const quantile of ['p50', 'p95'] as const) {
    builder.row(
      `POST to report, ${quantile}, ${PARALLEL} at once`,
      'ms',
      per(product, (r) => r.latency![quantile]),
    );
  }
  for (const quantile of ['p50', 'p95'] as const) {
    const target = quantile === 'p50' ? TARGETS.visibleMs : undefined;
    builder.row(
      `POST to visible success, ${quantile}, one at a time`,
      'ms',
      per(alone, (r) => r.latency![quantile]),
      target,
    );
  }
  builder.row('CPU per action, one at a time', 'ms', cpu(alone), TARGETS.aloneCpuMs);
  builder.asserted('every action succeeded, its message sent once, its batch closed');
  builder.note(`${product[0]!.count} of each a round, ${PARALLEL} under way at once; agents ping every 0.5 s`);
  builder.note(
    `${alone[0]!.count} a round one at a time: the agent pings every ${EAGER_PING_MS} ms, then exchanges twice; a client polls the activity`,
  );
  builder.note(
    'an action on one computer is one workflow, signaled unless its report comes within 250 ms; a no-op is never signaled',
  );
  builder.note(
    'a bare group is a workflow whose one child waits for a signal, as actions of several computers have for each',
  );
  return builder.finish('single', rounds, options.judgeAnyway);
}
