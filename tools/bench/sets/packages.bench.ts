import assert from 'node:assert/strict';
import type { ScheduleHandle } from '@temporalio/client';
import type pg from 'pg';
import { loadConfig } from '../../../src/process/config.ts';
import { connectClient } from '../../../temporal/client/connection.ts';
import { HashIdFiles, type HashIds } from '../../simulator/hash-ids.ts';
import type { BenchContext } from '../bench.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { interleave } from '../harness/rounds.ts';
import { sum } from '../harness/statistics.ts';
import { cpuMsOf, measure, type Role, type Usage } from '../harness/usage.ts';
import { TARGETS } from '../harness/verdict.ts';
import { waitFor } from '../harness/wait.ts';
import { BenchAgent } from '../load/bench-agent.ts';
import { withConnections } from '../load/tally.ts';
import { type Api, logIn } from '../product/api.ts';
import { openDatabase } from '../product/database.ts';
import { startProduct } from '../product/product.ts';
import { PRODUCT_ROLES } from '../product/roles.ts';
import type { Stack } from '../product/stack.ts';
import { addKnownPackages, assertStored, PACKAGES, RELEASE, reportPackages } from '../rounds/package-lists.ts';

type Side = 'without' | 'with';

/** Builds the file; see docs/architecture.md#housekeeping-schedules. */
const SCHEDULE = 'system/hash-id-databases';
/** From a request of the open client until the exchange that sends it. */
const URGENT_SECONDS = 60;
/** New computers of a round, one after another: the kernel's steps of 10 ms are coarse for one list with the file. */
const COMPUTERS: Readonly<Record<Side, number>> = { without: 1, with: 10 };
const BUILD_LIMIT_MS = 120_000;

interface Round {
  /** Of one computer. */
  exchanges: number;
  bytes: number;
  cpuMs: number;
  usage: Usage;
  build?: { fileBytes: number; cpuMs: number; usage: Usage };
}

interface Setting {
  stack: Stack;
  api: Api;
  database: pg.Client;
  schedule: ScheduleHandle;
  roles: Role[];
  /** Ids by hash. */
  known: HashIds;
  /** New computers, which the rounds use up. */
  agents: BenchAgent[];
  /** Of the file. */
  address: string;
  files: HashIdFiles;
}

/**
 * The first package list of a new computer whose packages the server knows: with and without the file of ids.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function packages(context: BenchContext): Promise<Report> {
  const { options } = context;
  const setting = await prepare(context);
  const rounds = await interleave<Round, Record<Side, () => Promise<Round>>>(
    {
      without: async () => {
        await removeFile(setting);
        return listPackages(setting, 'without');
      },
      with: async () => {
        const build = await buildFile(setting);
        const found = await listPackages(setting, 'with');
        await assertUnchanged(setting.address);
        return { ...found, build };
      },
    },
    { rounds: options.rounds, warmUps: 1, onRound: context.progress },
  );
  return report(rounds, options.judgeAnyway);
}

async function prepare(context: BenchContext): Promise<Setting> {
  const { options, resources } = context;
  const stack = await startProduct(context);
  const api = await logIn(stack);
  const environment = stack.environment();
  const database = await openDatabase(context, environment['FLOTILLA_DATABASE_URL']!);
  const temporal = await connectClient(loadConfig(environment, 'process'));
  resources.defer(() => temporal.close());
  const schedule = temporal.client.schedule.getHandle(SCHEDULE);
  await schedule.pause('a benchmark starts the runs');
  const roles: Role[] = [...stack.roles, { name: 'bench', roots: () => [process.pid], alone: true }];
  context.progress(`adding ${PACKAGES} packages and enrolling agents`);
  const known = await addKnownPackages(database);
  const agents = await enrol(stack, api, (options.rounds + 1) * (COMPUTERS.without + COMPUTERS.with));
  const name = `${agents[0]!.serverUuid}_${RELEASE['code-name']}_amd64`;
  const address = `http://127.0.0.1:${stack.agentPorts[0]}/hash-id-databases/${name}`;
  return { stack, api, database, schedule, roles, known, agents, address, files: new HashIdFiles() };
}

async function enrol(stack: Stack, api: Api, count: number): Promise<BenchAgent[]> {
  const agents: BenchAgent[] = [];
  await withConnections(stack.agentPorts, 1, async (connection) => {
    for (let i = 1; i <= count; i++) {
      const agent = new BenchAgent(`packages-${i}`);
      await agent.enrol(connection, api.account);
      await agent.exchange(connection, [RELEASE]);
      agents.push(agent);
    }
  });
  return agents;
}

async function removeFile({ database }: Setting): Promise<void> {
  await database.query('delete from hash_id_database');
}

async function buildFile(setting: Setting): Promise<NonNullable<Round['build']>> {
  const { database, schedule, roles } = setting;
  await removeFile(setting);
  const stored = async () => {
    const text = 'select length(content) as bytes from hash_id_database where code_name = $1';
    const { rows } = await database.query<{ bytes: number }>(text, [RELEASE['code-name']]);
    return rows[0]?.bytes ?? null;
  };
  const { result, usage } = await measure(roles, async () => {
    await schedule.trigger();
    return waitFor('the file', stored, { everyMs: 20, limitMs: BUILD_LIMIT_MS });
  });
  return { fileBytes: result, cpuMs: cpuMsOf(usage, PRODUCT_ROLES), usage };
}

async function listPackages(setting: Setting, side: Side): Promise<Round> {
  const { stack, api, database, roles, known, address, files } = setting;
  const fresh = setting.agents.splice(0, COMPUTERS[side]);
  const hashes = [...known.keys()];
  const before = sum(fresh.map(({ bytes }) => bytes));
  const { result, usage } = await measure(roles, async () => {
    let [exchanges, downloaded] = [0, 0];
    for (const agent of fresh) {
      const file = await download(address);
      assert.equal(file !== null, side === 'with');
      downloaded += file?.length ?? 0;
      exchanges += await reportPackages(stack, agent, hashes, file ? await files.read(file) : new Map());
    }
    return { exchanges, downloaded };
  });
  const ids = fresh.map(({ insecureId }) => insecureId);
  await assertStored(database, ids, [...known.values()]);
  const shown = await api.call<{ packages_reported: number | null }>('GET', `/computers/${ids[0]}`);
  // The last request of 140 is full.
  assert.equal(shown.packages_reported, side === 'with' ? null : 99);
  const bytes = result.downloaded + sum(fresh.map((agent) => agent.bytes)) - before;
  const each = (total: number) => total / fresh.length;
  return { exchanges: each(result.exchanges), bytes: each(bytes), cpuMs: each(cpuMsOf(usage, PRODUCT_ROLES)), usage };
}

/** @returns null where there is none */
async function download(address: string): Promise<Buffer | null> {
  const response = await fetch(address);
  const body = Buffer.from(await response.arrayBuffer());
  if (response.status === 404) return null;
  assert.equal(response.status, 200);
  return body;
}

/** @throws unless the response to who has the file is 304 */
async function assertUnchanged(address: string): Promise<void> {
  const { headers, body } = await fetch(address);
  await body?.cancel();
  const again = await fetch(address, { headers: { 'If-None-Match': headers.get('etag')! } });
  assert.equal(again.status, 304);
}

function report(rounds: Record<Side, Round[]>, judgeAnyway: boolean): Report {
  const builder = new ReportBuilder();
  const all = [...rounds.without, ...rounds.with];
  const builds = rounds.with.map(({ build }) => build!);
  for (const { usage } of [...all, ...builds]) builder.window(usage);
  const row = (figure: string, unit: string, pick: (round: Round) => number) => {
    for (const side of ['without', 'with'] as const) {
      const target = figure === 'exchanges' && side === 'with' ? TARGETS.packageExchanges : undefined;
      builder.row(`${figure}, ${side} the file`, unit, rounds[side].map(pick), target);
    }
  };
  row('exchanges', '', ({ exchanges }) => exchanges);
  row('time at the default interval', 'min', ({ exchanges }) => (exchanges * URGENT_SECONDS) / 60);
  row('CPU', 'ms', ({ cpuMs }) => cpuMs);
  row('bytes', 'KiB', ({ bytes }) => bytes / 1024);
  const built = (figure: string, unit: string, pick: (build: (typeof builds)[number]) => number) =>
    builder.row(figure, unit, builds.map(pick));
  built('the file: size', 'KiB', ({ fileBytes }) => fileBytes / 1024);
  built('the file: from the trigger of the schedule until it is stored', 's', ({ usage }) => usage.wallMs / 1000);
  built('the file: CPU of its build', 'ms', ({ cpuMs }) => cpuMs);
  builder.asserted('the stored lists were those that were sent; the file was there or not, and 304 to who has it');
  builder.note(`${PACKAGES.toLocaleString('en')} packages, from the first exchange about packages to the last`);
  builder.note('every eighth package that the server knows is not on the lists');
  builder.note(
    `time is computed: exchanges times ${URGENT_SECONDS} s; the open client sends what is about packages in urgent exchanges`,
  );
  builder.note('bytes are those of bodies, with the file; CPU is that of the product, for one computer');
  return builder.finish('packages', rounds, judgeAnyway);
}
