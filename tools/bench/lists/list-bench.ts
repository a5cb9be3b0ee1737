import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { openPersistence, type Persistence } from '../../../src/persistence/orm/orm.ts';
import type { BenchContext } from '../bench.ts';
import { startChild } from '../harness/child.ts';
import { createResources } from '../harness/resources.ts';
import { cpuMsOf, measure, type Role } from '../harness/usage.ts';
import { waitFor } from '../harness/wait.ts';
import { startLoad } from '../load/load-client.ts';
import { logIn } from '../product/api.ts';
import { openDatabase } from '../product/database.ts';
import { startProduct } from '../product/product.ts';
import { type CaseFigures, type CompareTools, compareCase } from './compare.ts';
import type { ListCase } from './list-case.ts';
import { createStatementCounter } from './statements.ts';

const START_LIMIT_MS = 120_000;
const REST_MS = 2000;
/** Of a core: what workers and Temporal use when idle, with a margin. */
const REST_SHARE = 0.2;

/** Data and cases of a list benchmark. */
export interface ListBench {
  fill(persistence: Persistence, accountId: number): Promise<void>;
  /** Creates a person who sees only some access groups, when there are restricted cases. */
  restrict?(persistence: Persistence, accountId: number): Promise<{ email: string; password: string }>;
  cases(database: pg.Client, accountId: number): Promise<ListCase[]> | ListCase[];
}

/** Figures for one amount of rows. */
export interface ListFigures {
  size: number;
  fillSeconds: number;
  cases: CaseFigures[];
  unserved: string[];
}

/** Starts its own stack, fills it, measures every case and stops it. */
export async function measureLists(context: BenchContext, size: number, bench: ListBench): Promise<ListFigures> {
  const resources = createResources(context.resources.env);
  context.resources.defer(() => resources.release());
  try {
    const own: BenchContext = { ...context, resources };
    const stack = await startProduct(own);
    const api = await logIn(stack);
    const url = stack.environment()['FLOTILLA_DATABASE_URL']!;
    const database = await openDatabase(own, url);
    const account = await database.query<{ id: number }>('select id from account where name = $1', [api.account]);
    const accountId = account.rows[0]!.id;
    const { fillSeconds, person } = await fill(url, accountId, bench);
    context.progress(`${size.toLocaleString('en-US')} rows made in ${fillSeconds.toFixed(1)} s`);
    await workflowsStarted(database, stack.roles);
    const load = await startLoad(resources);
    const bareFile = fileURLToPath(new URL('../baselines/bare-lists.ts', import.meta.url));
    const bare = await startChild(resources, bareFile, [], { BENCH_DATABASE_URL: url });
    const counter = createStatementCounter(database, join(stack.dataDir, 'logs', 'postgres.log'), 'flotilla-api');
    const tools: CompareTools = {
      port: stack.port,
      api,
      ...(person ? { restricted: await logIn(stack, person) } : {}),
      load,
      bare,
      database,
      roles: [
        ...stack.roles,
        { name: 'baseline', roots: () => [bare.pid!] },
        { name: 'load', roots: () => [load.pid] },
        { name: 'bench', roots: () => [process.pid], alone: true },
      ],
      rounds: context.options.rounds,
      countStatements: (request) => counter.count(request),
    };
    const { cases, unserved } = await run(context, tools, await bench.cases(database, accountId), size);
    return { size, fillSeconds, cases, unserved };
  } finally {
    await resources.release();
  }
}

async function run(context: BenchContext, tools: CompareTools, cases: readonly ListCase[], size: number) {
  const found: CaseFigures[] = [];
  const unserved: string[] = [];
  for (const listCase of cases) {
    const figures = await compareCase(tools, listCase).catch((error: unknown) => {
      throw new Error(`${listCase.name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    });
    if (figures) found.push(figures);
    else unserved.push(listCase.name);
    context.progress(
      `${size.toLocaleString('en-US')}: ${listCase.name}${figures ? describe(figures) : ': not served'}`,
    );
  }
  return { cases: found, unserved };
}

function describe({ product, bare, count }: CaseFigures): string {
  const best = (sides: typeof product) => Math.min(...sides.map(({ p50 }) => p50)).toFixed(1);
  return `: ${best(product)} ms, bare ${best(bare)} ms, ${count.toLocaleString('en-US')} match`;
}

/** Waits for dispatcher and workers to process the open rows, which would take cores from the first cases. */
async function workflowsStarted(database: pg.Client, roles: readonly Role[]): Promise<void> {
  const started = async () => {
    const { rows } = await database.query<{ waiting: number }>('select count(*)::int as waiting from outbox');
    const { usage } = await measure(roles, () => sleep(REST_MS));
    const busyMs = cpuMsOf(usage, ['worker', 'Temporal']);
    return rows[0]!.waiting === 0 && busyMs < REST_MS * REST_SHARE ? true : null;
  };
  await waitFor('the workflows of what is open', started, { everyMs: 0, limitMs: START_LIMIT_MS });
}

async function fill(url: string, accountId: number, bench: ListBench) {
  const persistence = await openPersistence({ url, poolSize: 2, applicationName: 'generator' });
  const from = performance.now();
  try {
    await bench.fill(persistence, accountId);
    const fillSeconds = (performance.now() - from) / 1000;
    return { fillSeconds, person: await bench.restrict?.(persistence, accountId) };
  } finally {
    await persistence.close();
  }
}
