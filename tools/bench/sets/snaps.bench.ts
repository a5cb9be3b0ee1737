import { type NoOps, startNoOps } from '../baselines/no-op-client.ts';
import type { BenchContext } from '../bench.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { interleave } from '../harness/rounds.ts';
import { createStorageMeter } from '../harness/storage.ts';
import type { Role } from '../harness/usage.ts';
import { type LoadClient, startLoad } from '../load/load-client.ts';
import { API_PREFIX, logIn } from '../product/api.ts';
import { openDatabase, snapTargets } from '../product/database.ts';
import { AGENT_TIMES, type BenchFleet, DEFAULT_PING_SECONDS, pingSecondsFor, startFleet } from '../product/fleet.ts';
import { startProduct } from '../product/product.ts';
import type { Stack } from '../product/stack.ts';
import { ACCEPTS, measureAccepts } from '../rounds/snaps-accepts.ts';
import { addGrowth, addSize, type SizeResult } from '../rounds/snaps-report.ts';
import {
  type GroupRound,
  groupRound,
  NO_OP_COUNT,
  type NoOpRound,
  noOpRound,
  type SnapsSetting,
} from '../rounds/snaps-rounds.ts';

/** Of every 25 simulated computers 20 take snaps; the others only ping. */
const PATTERN = 25;
const SNAPS_PER_PATTERN = 20;
const GROUP_SIZES = [1000, 10_000];

/**
 * POST /snaps to groups of simulated agents over HTTP, against bare no-op workflows on the same Temporal server.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function snaps(context: BenchContext): Promise<Report> {
  const { options, resources } = context;
  const stack = await startProduct(context);
  const api = await logIn(stack);
  const environment = stack.environment();
  const database = await openDatabase(context, environment['FLOTILLA_DATABASE_URL']!);
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
  for (const computers of options.computers ?? GROUP_SIZES) {
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

/** Adds agents until `targets` take snaps, so that smaller groups are measured without the idle rest of larger ones. */
async function growFleet(
  context: BenchContext,
  stack: Stack,
  { api }: SnapsSetting,
  fleets: BenchFleet[],
  targets: number,
): Promise<void> {
  const computers = Math.ceil(targets / SNAPS_PER_PATTERN) * PATTERN;
  const present = (await api.computerIds()).length;
  const { pingSeconds = pingSecondsFor(computers) } = context.options;
  context.progress(`enrolling ${computers - present} simulated computers`);
  // The ping rate is that of the whole fleet: the agents that were there before now ping less often.
  for (const fleet of fleets) await fleet.setPing(pingSeconds);
  fleets.push(
    await startFleet(context.resources, context.root, stack, {
      computers: computers - present,
      account: api.account,
      pingSeconds,
      seed: fleets.length + 1,
    }),
  );
}

async function measureSize(context: BenchContext, setting: SnapsSetting, computers: number): Promise<SizeResult> {
  const ids = await snapTargets(setting.database, computers);
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
  context.progress(`${computers} computers, ${ACCEPTS} actions accepted`);
  const accepts = await measureAccepts(setting, ids);
  return { computers, groups: results.group as GroupRound[], noOps: results.noOp as NoOpRound[], accepts };
}

function report({ options }: BenchContext, sizes: SizeResult[]): Report {
  const builder = new ReportBuilder();
  for (const { groups, noOps, accepts } of sizes) {
    for (const round of [...groups, ...noOps, accepts]) builder.window(round.usage);
  }
  for (const size of sizes) addSize(builder, size);
  addGrowth(builder, sizes);
  builder.asserted(
    'every computer has one row, succeeded, its message sent once; the agents executed each operation once',
  );
  builder.asserted('no response of the API but 200 while the groups ran');
  const { urgentSeconds, operationSeconds } = AGENT_TIMES;
  const pings = sizes.map(
    ({ computers }) => `${options.pingSeconds ?? pingSecondsFor(computers * 1.25)} s (${computers})`,
  );
  builder.note(
    `agents ping every ${pings.join(', ')}, exchange ${urgentSeconds} s later, work ${operationSeconds} s: no group ends faster`,
  );
  builder.note(`accepted alone: ${ACCEPTS} actions, agents ping every ${DEFAULT_PING_SECONDS} s as they do by default`);
  const writes =
    options.on === 'embedded'
      ? 'Temporal writes to SQLite here, whose log holds whole pages: compare log bytes with care'
      : 'Temporal writes to the same PostgreSQL, whose figures hold both';
  builder.note(`no-op workflows: ${NO_OP_COUNT} a round; ${writes}`);
  return builder.finish('snaps', sizes, options.judgeAnyway);
}
