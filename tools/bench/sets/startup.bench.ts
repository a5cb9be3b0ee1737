import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type BareParts, measureBareParts } from '../baselines/bare-parts.ts';
import type { BenchContext } from '../bench.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { pairedRatios } from '../harness/statistics.ts';
import { measure, type Role, type Usage } from '../harness/usage.ts';
import { TARGETS } from '../harness/verdict.ts';
import { waitFor } from '../harness/wait.ts';
import { startLoad } from '../load/load-client.ts';
import { type Api, logIn } from '../product/api.ts';
import { startStack } from '../product/stack.ts';

interface Start {
  ready: number;
  firstWorkflow: number;
  stop: number;
}

interface Round {
  cold: Start;
  warm: Start;
  bare: BareParts;
  usage: Usage;
}

/**
 * Cold and warm start of the whole embedded stack to the first POST that starts a workflow, against the sum of its
 * bare parts.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function startup(context: BenchContext): Promise<Report> {
  const rounds: Round[] = [];
  // The first round fills the file cache and is dropped.
  for (let round = 0; round <= context.options.rounds; round++) {
    context.progress(round === 0 ? 'warm-up' : `round ${round} of ${context.options.rounds}`);
    const result = await oneRound(context);
    if (round > 0) rounds.push(result);
  }
  return report(context, rounds);
}

async function oneRound(context: BenchContext): Promise<Round> {
  const dataDir = join(context.resources.folder('flotilla-bench-'), 'data');
  const all: Role = { name: 'everything', roots: () => [process.pid] };
  const { result, usage } = await measure([all], async () => ({
    cold: await oneStart(context, dataDir, 'cold'),
    warm: await oneStart(context, dataDir, 'warm'),
    bare: await measureBareParts(context),
  }));
  return { ...result, usage };
}

async function oneStart(context: BenchContext, dataDir: string, kind: 'cold' | 'warm'): Promise<Start> {
  const load = await startLoad(context.resources);
  const stack = await startStack(context.resources, context.root, dataDir);
  const seconds = () => (performance.now() - stack.startedAt) / 1000;
  await stack.ready();
  const ready = seconds();
  const api = await logIn(stack);
  const command = { kind: 'enrol', port: stack.port, account: api.account, count: 1, prefix: kind } as const;
  const { ids } = await load.run(command);
  const computers = await api.computerIds();
  assert.equal(computers.length, kind === 'cold' ? 1 : 2, 'a warm start finds the computers of the cold one');
  const body = { action: 'install', computer_ids: ids, snaps: [{ name: 'hello-world' }] };
  const activity = await api.call<{ id: number }>('POST', '/snaps', body);
  const firstWorkflow = seconds();
  await delivered(api, load, stack.port, activity.id);
  const stopping = performance.now();
  await stack.stop();
  const stop = (performance.now() - stopping) / 1000;
  await load.close();
  return { ready, firstWorkflow, stop };
}

/** The POST counts only if its workflow really ran and the agent gets the message. */
async function delivered(
  api: Api,
  load: Awaited<ReturnType<typeof startLoad>>,
  port: number,
  id: number,
): Promise<void> {
  const look = async () => {
    await load.run({ kind: 'exchange', port, connections: 1, seconds: 0.05 });
    const { activity_status: status } = await api.call<{ activity_status: string }>('GET', `/activities/${id}`);
    return status === 'delivered' || status === 'in-progress' ? true : null;
  };
  await waitFor(`delivery of activity ${id}`, look, { everyMs: 50, limitMs: 20_000 });
}

function report(context: BenchContext, rounds: Round[]): Report {
  const builder = new ReportBuilder();
  for (const { usage } of rounds) builder.window(usage);
  const pick = (choose: (round: Round) => number) => rounds.map(choose);
  const coldParts = pick((r) => r.bare.initdb + r.bare.postgres + r.bare.temporal + r.bare.bundle);
  const warmParts = pick((r) => r.bare.postgres + r.bare.temporal + r.bare.bundle);
  builder.asserted(
    'the first POST /snaps reached its agent; a warm start found the account and computer of the cold one',
  );
  const cold = pick((r) => r.cold.firstWorkflow);
  const warm = pick((r) => r.warm.firstWorkflow);
  builder.row('cold start to first workflow', 's', cold, TARGETS.coldSeconds);
  builder.row('cold start over its bare parts', 'x', pairedRatios(cold, coldParts), TARGETS.coldRatio);
  builder.row('warm start to first workflow', 's', warm, TARGETS.warmSeconds);
  builder.row('warm start over its bare parts', 'x', pairedRatios(warm, warmParts));
  builder.row(
    'cold start to /readyz',
    's',
    pick((r) => r.cold.ready),
  );
  builder.row(
    'warm start to /readyz',
    's',
    pick((r) => r.warm.ready),
  );
  builder.row(
    'stop',
    's',
    pick((r) => Math.max(r.cold.stop, r.warm.stop)),
  );
  for (const part of ['initdb', 'postgres', 'temporal', 'bundle'] as const) {
    builder.row(
      `bare ${part}`,
      's',
      pick((r) => r.bare[part]),
    );
  }
  builder.row('bare parts together, cold', 's', coldParts);
  return builder.finish('startup', rounds, context.options.judgeAnyway);
}
