import { openPersistence, type Persistence } from '../../../src/persistence/orm/orm.ts';
import { createAccount } from '../../harness/accounts.ts';
import type { BenchContext } from '../bench.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { interleave } from '../harness/rounds.ts';
import { pairedRatios } from '../harness/statistics.ts';
import type { Role } from '../harness/usage.ts';
import { TARGETS } from '../harness/verdict.ts';
import { BenchAgent } from '../load/bench-agent.ts';
import { RawConnection } from '../load/raw-connection.ts';
import { logIn } from '../product/api.ts';
import { AGENT_TIMES, pingSecondsFor, startFleet } from '../product/fleet.ts';
import { startProduct } from '../product/product.ts';
import type { Stack } from '../product/stack.ts';
import { addSilentComputers, type BigAccount } from '../rounds/fairness-fan-out.ts';
import {
  aloneRound,
  type FairnessRound,
  type FairnessSetting,
  fanOutRound,
  type SmallAccount,
} from '../rounds/fairness-rounds.ts';

const GROUP = 100_000;
/** Computers of the group with a real agent; reports of the others are written directly. */
const MOST_AGENTS = 2000;
/** Of every 25 simulated computers 20 take snaps. */
const SNAPS_SHARE = 20 / 25;

/**
 * One account acts on a single computer, end to end, alone and while another account's operation on a large group runs.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function fairness(context: BenchContext): Promise<Report> {
  const { options, resources } = context;
  const stack = await startProduct(context);
  const persistence = await openPersistence({
    url: stack.environment()['FLOTILLA_DATABASE_URL']!,
    poolSize: 4,
    applicationName: 'flotilla-bench',
  });
  resources.defer(() => persistence.close());
  const computers = options.computers?.at(-1) ?? GROUP;
  const big = await fillBigAccount(context, stack, persistence, computers);
  const small = await fillSmallAccount(context, stack, persistence);
  const roles: Role[] = [
    ...stack.roles,
    { name: 'fleet (not counted)', roots: () => [big.fleetPid] },
    { name: 'bench', roots: () => [process.pid], alone: true },
  ];
  const setting: FairnessSetting = { agentPort: stack.agentPorts[0]!, small, big, roles };
  const rounds = await interleave<
    FairnessRound,
    { alone: () => Promise<FairnessRound>; fanOut: () => Promise<FairnessRound> }
  >(
    { alone: () => aloneRound(setting), fanOut: () => fanOutRound(setting) },
    { rounds: options.rounds, warmUps: 1, onRound: context.progress },
  );
  return report(context, computers, big, rounds.alone, rounds.fanOut);
}

async function fillBigAccount(
  context: BenchContext,
  stack: Stack,
  persistence: Persistence,
  computers: number,
): Promise<BigAccount> {
  const api = await logIn(stack);
  const agents = Math.ceil(Math.min(computers, MOST_AGENTS) / SNAPS_SHARE);
  context.progress(`enrolling ${agents} simulated computers`);
  const { pingSeconds = pingSecondsFor(agents) } = context.options;
  const fleet = await startFleet(context.resources, context.root, stack, {
    computers: agents,
    account: api.account,
    pingSeconds,
    seed: 1,
  });
  const { db } = persistence;
  const rows = await db.query<{ id: number }>(
    `select c.id from computer c join account a on a.id = c.account_id
     where a.name = $1 and c.hostagent_uid is null order by c.id limit $2`,
    [api.account, Math.min(computers, MOST_AGENTS)],
  );
  const silent = await addSilentComputers(db, api.account, computers - rows.length);
  const computerIds = [...rows.map(({ id }) => id), ...silent];
  return { api, db, computerIds, agents: rows.length, pingSeconds, fleetPid: fleet.pid };
}

async function fillSmallAccount(
  { resources }: BenchContext,
  stack: Stack,
  persistence: Persistence,
): Promise<SmallAccount> {
  const person = await createAccount(persistence.db, 'small');
  const connection = await RawConnection.open(stack.agentPorts[0]!);
  resources.defer(() => connection.close());
  const agent = new BenchAgent('small-1');
  await agent.enrol(connection, 'small');
  return { api: await logIn(stack, person), agent, computerId: agent.insecureId };
}

function report(
  { options }: BenchContext,
  computers: number,
  big: BigAccount,
  alone: readonly FairnessRound[],
  fanOut: readonly FairnessRound[],
): Report {
  const builder = new ReportBuilder();
  for (const round of [...alone, ...fanOut]) builder.window(round.usage);
  const of = (rounds: readonly FairnessRound[], pick: (round: FairnessRound) => number) => rounds.map(pick);
  for (const quantile of ['p50', 'p95'] as const) {
    const [before, meanwhile] = [alone, fanOut].map((rounds) => of(rounds, (r) => r.total[quantile]));
    builder.row(`single action alone, ${quantile}`, 'ms', before!);
    builder.row(`single action meanwhile, ${quantile}`, 'ms', meanwhile!);
    builder.row(`meanwhile over alone, ${quantile}`, 'x', pairedRatios(meanwhile!, before!), TARGETS.fairnessRatio);
  }
  for (const part of ['accepted', 'delivered', 'applied'] as const) {
    builder.row(
      `${part} alone, p95`,
      'ms',
      of(alone, (r) => r.parts[part].p95),
    );
    builder.row(
      `${part} meanwhile, p95`,
      'ms',
      of(fanOut, (r) => r.parts[part].p95),
    );
  }
  builder.row(
    'single actions meanwhile',
    '',
    of(fanOut, (r) => r.total.count),
  );
  builder.row(
    'group accepted',
    'ms',
    of(fanOut, (r) => r.group?.acceptMs ?? 0),
  );
  builder.row(
    'group done',
    's',
    of(fanOut, (r) => r.group?.doneSeconds ?? 0),
  );
  builder.asserted('every single action succeeded, and every computer of the group has one row, succeeded');
  builder.note(
    `a group of ${computers.toLocaleString('en-US')}: ${big.agents.toLocaleString('en-US')} simulated agents over HTTP that ping every ` +
      `${big.pingSeconds} s and work ${AGENT_TIMES.operationSeconds} s; what the others would report is written to the database, at most 2,000 a second`,
  );
  builder.note('delivered: from the response to POST until the agent has reported; the agent exchanges every 40 ms');
  return builder.finish('fairness', { alone, fanOut }, options.judgeAnyway);
}
