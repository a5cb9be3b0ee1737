import assert from 'node:assert/strict';
import { join } from 'node:path';
import pg from 'pg';
import { findFreePorts } from '../../stack/processes/ports.ts';
import type { BenchContext } from '../bench.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { TARGETS } from '../harness/verdict.ts';
import { logIn } from '../product/api.ts';
import { snapTargets } from '../product/database.ts';
import { pingSecondsFor, startFleet } from '../product/fleet.ts';
import { type Stack, startStack } from '../product/stack.ts';
import { type RecoveryRound, type RecoverySetting, recoveryRound } from '../rounds/recovery-rounds.ts';

const COMPUTERS = 1000;
/** Of every 25 simulated computers 20 take snaps. */
const SNAPS_SHARE = 20 / 25;

/**
 * Kills every process of the embedded stack at once during an action on a whole fleet: time until it serves again,
 * against an ordered restart, and the rate at which the rest is completed, against an undisturbed action.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function recovery(context: BenchContext): Promise<Report> {
  const { options, resources, root } = context;
  const dataDir = join(resources.folder('flotilla-bench-'), 'data');
  const env = await samePorts();
  const start = () => startStack(resources, root, dataDir, env);
  const first = await start();
  await first.ready();
  const api = await logIn(first);
  const wanted = options.computers?.at(-1) ?? COMPUTERS;
  const computers = Math.ceil((wanted + 1) / SNAPS_SHARE);
  context.progress(`enrolling ${computers} simulated computers`);
  const pingSeconds = options.pingSeconds ?? pingSecondsFor(computers);
  const fleet = await startFleet(resources, root, first, { computers, account: api.account, pingSeconds, seed: 1 });
  const url = first.environment()['FLOTILLA_DATABASE_URL']!;
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  const targets = await snapTargets(database, wanted + 1);
  await database.end();
  let stack: Stack = first;
  const setting: RecoverySetting = {
    api,
    url,
    fleet,
    targets: targets.slice(0, wanted),
    spare: targets[wanted]!,
    stack: () => stack,
    async start() {
      stack = await start();
      await stack.ready();
    },
  };
  const rounds: RecoveryRound[] = [];
  for (let round = 0; round <= options.rounds; round++) {
    context.progress(round === 0 ? 'warm-up' : `round ${round} of ${options.rounds}`);
    const result = await recoveryRound(setting);
    if (round > 0) rounds.push(result);
  }
  assert.equal(fleet.executions().repeated, 0, 'no operation is executed twice');
  return report(context, rounds, pingSeconds);
}

/** Ports of every start of the stack, because its agents know them. */
async function samePorts(): Promise<Record<string, string>> {
  const names = ['PORT', 'DATABASE_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT', 'METRICS_PORT'];
  const ports = await findFreePorts(names.length);
  return Object.fromEntries(names.map((name, i) => [`FLOTILLA_${name}`, String(ports[i])]));
}

function report({ options }: BenchContext, rounds: readonly RecoveryRound[], pingSeconds: number): Report {
  const builder = new ReportBuilder();
  for (const { usage } of rounds) builder.window(usage);
  const row = (
    figure: string,
    unit: string,
    of: (round: RecoveryRound) => number,
    target?: Parameters<ReportBuilder['row']>[3],
  ) => builder.row(figure, unit, rounds.map(of), target);
  row('killed: until a POST is accepted again', 's', (r) => r.killed.accepted);
  row('ordered restart: until a POST is accepted', 's', (r) => r.ordered.accepted);
  row(
    'killed, beyond an ordered restart',
    's',
    (r) => r.killed.accepted - r.ordered.accepted,
    TARGETS.recoveryExtraSeconds,
  );
  row('killed: until /readyz', 's', (r) => r.killed.ready);
  row('ordered restart: until /readyz', 's', (r) => r.ordered.ready);
  row('operations open when all was killed', '', (r) => r.left);
  row('from /readyz until they are done', 's', (r) => r.drainSeconds);
  row('open operations done per second over undisturbed', 'x', (r) => r.left / r.drainSeconds / r.undisturbedRate);
  row('undisturbed: computers per second', '/s', (r) => r.undisturbedRate);
  builder.asserted('every operation succeeded in the end; the agents executed each once, whatever was killed');
  builder.note(`agents ping every ${pingSeconds} s, work 0.1 s and wait as the protocol defines when nobody responds`);
  builder.note('SIGKILL to supervisor, API, worker, Temporal and PostgreSQL once a quarter of the operations is done');
  return builder.finish('recovery', rounds, options.judgeAnyway);
}
