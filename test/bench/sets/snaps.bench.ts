import { join } from 'node:path';
import pg from 'pg';
import { type NoOps, startNoOps } from '../baselines/no-op-client.ts';
import type { BenchContext } from '../bench.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { interleave } from '../harness/rounds.ts';
import { createStorageMeter } from '../harness/storage.ts';
import type { Role } from '../harness/usage.ts';
import { waitFor } from '../harness/wait.ts';
import { type LoadClient, startLoad } from '../load/load-client.ts';
import { API_PREFIX, logIn } from '../product/api.ts';
import { type BenchFleet, startFleet } from '../product/fleet.ts';
import { type Stack, startStack } from '../product/stack.ts';
import { addGrowth, addSize, type SizeResult } from './snaps-report.ts';
import {
  type GroupRound,
  groupRound,
  NO_OP_COUNT,
  type NoOpRound,
  noOpRound,
  type SnapsSetting,
} from './snaps-rounds.ts';

const ENROL_LIMIT_MS = 600_000;

/**
 * POST /snaps to groups of simulated agents over HTTP, against bare no-op workflows on the same Temporal server.
 *
 * @see perf-reliability A3, 1b, 1c and 4
 */
export async function snaps(context: BenchContext): Promise<Report> {
  const { options, resources, root } = context;
  const stack = await startStack(resources, root, join(resources.folder('flotilla-bench-'), 'data'));
  await stack.ready();
  const api = await logIn(stack);
  const environment = stack.environment();
  const database = new pg.Client({ connectionString: environment['FLOTILLA_DATABASE_URL']! });
  database.on('error', () => {});
  await database.connect();
  resources.defer(() => database.end());
  const meter = createStorageMeter(database, stack.dataDir);
  resources.defer(() => meter.close());
  const noOps = await startNoOps(resources, environment);
  const load = await startLoad(resources);
  const fleets: BenchFleet[] = [];
  const roles = allRoles(stack, noOps, load, fleets);
  const headers = { Authorization: `Bearer ${api.token}`, Accept: 'application/json' };
  const probe = { method: 'GET', path: `${API_PREFIX}/person`, headers, bodies: [] };
  const setting: SnapsSetting = { api, port: stack.port, database, meter, noOps, load, fleets, roles, probe };
  const sizes: SizeResult[] = [];
  for (const computers of options.computers) {
    await growFleet(context, stack, setting, fleets, computers);
    sizes.push(await measureSize(context, setting, computers));
  }
  return report(context, sizes);
}

function allRoles(stack: Stack, noOps: NoOps, load: LoadClient, fleets: readonly BenchFleet[]): Role[] {
  return [
    ...stack.roles,
    { name: 'fleet (not counted)', roots: () => fleets.map((fleet) => fleet.pid) },
    { name: 'no-op worker', roots: () => [noOps.pid] },
    { name: 'load', roots: () => [load.pid] },
    { name: 'bench', roots: () => [process.pid], alone: true },
  ];
}

/** Adds agents until there are `computers`: smaller groups are measured without the idle rest of larger ones. */
async function growFleet(
  context: BenchContext,
  stack: Stack,
  { api, database }: SnapsSetting,
  fleets: BenchFleet[],
  computers: number,
): Promise<void> {
  const present = (await api.computerIds()).length;
  context.progress(`enrolling ${computers - present} simulated computers`);
  fleets.push(
    await startFleet(context.resources, stack, {
      computers: computers - present,
      account: api.account,
      pingSeconds: context.options.pingSeconds,
      seed: fleets.length + 1,
    }),
  );
  const enrolled = async () => {
    const { rows } = await database.query<{ n: number }>('select count(*)::int as n from computer');
    return rows[0]!.n >= computers ? true : null;
  };
  await waitFor(`${computers} enrolled computers`, enrolled, { everyMs: 250, limitMs: ENROL_LIMIT_MS });
}

async function measureSize(context: BenchContext, setting: SnapsSetting, computers: number): Promise<SizeResult> {
  const ids = await setting.api.computerIds();
  let installed = false;
  const group = (): Promise<GroupRound> => {
    installed = !installed;
    return groupRound(setting, ids, installed ? 'install' : 'remove');
  };
  const results = await interleave<
    GroupRound | NoOpRound,
    { group: () => Promise<GroupRound>; noOp: () => Promise<NoOpRound> }
  >(
    { group, noOp: () => noOpRound(setting) },
    {
      rounds: context.options.rounds,
      warmUps: 1,
      onRound: (text) => context.progress(`${computers} computers, ${text}`),
    },
  );
  return { computers, groups: results.group as GroupRound[], noOps: results.noOp as NoOpRound[] };
}

function report(context: BenchContext, sizes: SizeResult[]): Report {
  const builder = new ReportBuilder();
  for (const { groups, noOps } of sizes) for (const round of [...groups, ...noOps]) builder.window(round.usage);
  for (const size of sizes) addSize(builder, size);
  addGrowth(builder, sizes);
  builder.asserted(
    'every computer has one row, succeeded, its message sent once; the agents executed each operation once',
  );
  builder.asserted('no answer of the API but 200 while the groups ran');
  builder.note(
    `agents ping every ${context.options.pingSeconds} s (the real agent's default is 30 s), which bounds the time to the end from below`,
  );
  builder.note(
    `no-op workflows: ${NO_OP_COUNT} a round; Temporal writes to SQLite here, whose log holds whole pages: compare log bytes with care`,
  );
  return builder.finish('snaps', sizes, context.options.judgeAnyway);
}
