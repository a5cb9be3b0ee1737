import type { ChildProcess } from 'node:child_process';
import type pg from 'pg';
import { requestChild } from '../harness/child.ts';
import { interleave } from '../harness/rounds.ts';
import { latency } from '../harness/statistics.ts';
import { cpuMsOf, measure, type Role, type Usage } from '../harness/usage.ts';
import type { LoadClient } from '../load/load-client.ts';
import { API_PREFIX, type Api } from '../product/api.ts';
import { PRODUCT_ROLES } from '../product/roles.ts';
import type { BareCommand, BareReply, BareRow, ListCase, Page } from './list-case.ts';

/** One side of one case in one round. */
export interface SideFigures {
  p50: number;
  p95: number;
  /** CPU of all processes of this side, per page. */
  cpuMs: number;
  usage: Usage;
}

/** Results of a case. */
export interface CaseFigures {
  name: string;
  family: ListCase['family'];
  /** Rows on the page, and of all that match. */
  rows: number;
  count: number;
  statements: number;
  product: SideFigures[];
  bare: SideFigures[];
}

export interface CompareTools {
  port: number;
  api: Api;
  /** Of a person who sees only some access groups; absent: no case needs it. */
  restricted?: Api;
  load: LoadClient;
  /** Runs {@link BareCommand}s. */
  bare: ChildProcess;
  database: pg.Client;
  roles: readonly Role[];
  rounds: number;
  /** Runs a request once and counts its statements. */
  countStatements(request: () => Promise<unknown>): Promise<number>;
}

/** Each side is measured for about this long per round: the kernel counts CPU in steps of 10 ms. */
const SIDE_MS = 400;
const LEAST = 4;
const MOST = 60;

/**
 * Compares a case's response with the bare rows, then measures both sides in turn.
 * @returns null when the product does not serve the request
 * @throws {AssertionError} when the two sides differ
 */
export async function compareCase(tools: CompareTools, listCase: ListCase): Promise<CaseFigures | null> {
  const api = apiOf(tools, listCase);
  const page = await get(api, listCase.path);
  if (page === null || listCase.isServed?.(page) === false) return null;
  listCase.check(page, await bareRows(tools.database, listCase));
  const statements = await tools.countStatements(() => api.call('GET', listCase.path));
  const warm = await timed(() => api.call('GET', listCase.path));
  const count = Math.max(LEAST, Math.min(MOST, Math.ceil(SIDE_MS / warm)));
  const sides = await interleave<SideFigures, Record<'product' | 'bare', () => Promise<SideFigures>>>(
    { product: () => runProduct(tools, listCase, count), bare: () => runBaseline(tools, listCase, count) },
    { rounds: tools.rounds, warmUps: 1 },
  );
  const { name, family } = listCase;
  return { name, family, rows: page.results.length, count: page.count, statements, ...sides };
}

function apiOf({ api, restricted }: CompareTools, { name, requester }: ListCase): Api {
  if (requester === undefined) return api;
  if (!restricted) throw new Error(`no restricted person for "${name}"`);
  return restricted;
}

async function get(api: Api, path: string): Promise<Page | null> {
  try {
    return await api.call<Page>('GET', path);
  } catch (error) {
    if (error instanceof Error && error.message.includes(' returned 400')) return null;
    throw error;
  }
}

async function runProduct(tools: CompareTools, listCase: ListCase, count: number): Promise<SideFigures> {
  const headers = { Accept: 'application/json', Authorization: `Bearer ${apiOf(tools, listCase).token}` };
  const request = { method: 'GET', path: API_PREFIX + listCase.path, headers, bodies: [] };
  const { result, usage } = await measure(tools.roles, () =>
    tools.load.run({ kind: 'times', port: tools.port, request, count }),
  );
  const { p50, p95 } = result.latencyMs;
  return { p50, p95, cpuMs: cpuMsOf(usage, PRODUCT_ROLES) / count, usage };
}

async function runBaseline(tools: CompareTools, { bare }: ListCase, count: number): Promise<SideFigures> {
  const { result, usage } = await measure(tools.roles, () => runBare(tools.bare, { statements: bare, count }));
  const { p50, p95 } = latency(result);
  return { p50, p95, cpuMs: cpuMsOf(usage, ['baseline', 'PostgreSQL']) / count, usage };
}

async function runBare(child: ChildProcess, command: BareCommand): Promise<number[]> {
  const reply = await requestChild<BareReply>(child, 'the baseline', command);
  if ('error' in reply) throw new Error(`bare SQL: ${reply.error}`);
  return reply.times;
}

async function bareRows(database: pg.Client, { bare }: ListCase): Promise<BareRow[][]> {
  const found: BareRow[][] = [];
  for (const { text, values, takesIds } of bare) {
    const ids = found[0]?.map((row) => row['id']);
    const { rows } = await database.query<BareRow>(text, takesIds ? [...values, ids] : [...values]);
    found.push(rows);
  }
  return found;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}
