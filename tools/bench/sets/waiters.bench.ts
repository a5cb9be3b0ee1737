import assert from 'node:assert/strict';
import { request, Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { BenchContext } from '../bench.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { quantile } from '../harness/statistics.ts';
import { cpuMsOf, measure, type Role, type Usage } from '../harness/usage.ts';
import { API_PREFIX, logIn } from '../product/api.ts';
import { openDatabase } from '../product/database.ts';
import { startProduct } from '../product/product.ts';

const DEFAULT_WAITERS = 10_000;
const OPENED_AT_ONCE = 50;
const ENDED_PER_SECOND = 100;
const WAIT_SECONDS = 60;
/** Opening, idling and ending have to fit into the longest wait. */
const IDLE_MS = 10_000;
const API = 'API';

interface Waiter {
  activityId: number;
  ended: Promise<number>;
}

/**
 * Clients that wait for one activity each, on one API process: what they cost, and how soon after its commit they get the end.
 * @see docs/events.md#waiting
 */
export async function waiters(context: BenchContext): Promise<Report> {
  const { options, resources } = context;
  const count = options.computers?.at(-1) ?? DEFAULT_WAITERS;
  const stack = await startProduct(context, { FLOTILLA_API_RATE_LIMIT: '0' });
  const api = await logIn(stack);
  const database = await openDatabase(context, stack.environment()['FLOTILLA_DATABASE_URL']!);
  const ids = await insertActivities(database, count);
  const roles: Role[] = [...stack.roles, { name: 'bench', roots: () => [process.pid], alone: true }];
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  resources.defer(async () => agent.destroy());
  const headers = { Authorization: `Bearer ${api.token}` };
  const open = (activityId: number): Waiter => {
    const path = `${API_PREFIX}/activities/${activityId}?wait=${WAIT_SECONDS}&until=ended`;
    return { activityId, ended: endOf({ port: stack.port, path, headers, agent }) };
  };
  const all: Waiter[] = [];
  const opening = await measure(roles, async () => {
    for (let start = 0; start < count; start += OPENED_AT_ONCE) {
      all.push(...ids.slice(start, start + OPENED_AT_ONCE).map(open));
      await sleep(OPENED_AT_ONCE / 2);
    }
    await sleep(1_000);
  });
  const idle = await measure(roles, () => sleep(IDLE_MS));
  const ending = await measure(roles, () => endAll(database, all));
  return report(context, count, { opening: opening.usage, idle: idle.usage, ending: ending.usage }, ending.result);
}

/** Activities without operations: only their rows end. */
async function insertActivities(database: pg.Client, count: number): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(
    `insert into activity (account_id, type, summary, status)
     select (select min(id) from account), 'ActivityGroup', 'Waited for', 'undelivered' from generate_series(1, $1::int)
     returning id`,
    [count],
  );
  return rows.map(({ id }) => id);
}

interface WaitingRequest {
  port: number;
  path: string;
  headers: object;
  agent: Agent;
}

/** Waits again as often as the time is up. @returns when the end had arrived, by `performance.now()` */
function endOf(waiting: WaitingRequest): Promise<number> {
  const { port, path, headers, agent } = waiting;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = request({ host: '127.0.0.1', port, path, headers: { ...headers }, agent }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    response.on('end', () => {
      if (response.statusCode === 200 && text.includes('"activity_status":"succeeded"')) resolve(performance.now());
      else if (response.statusCode === 200) resolve(endOf(waiting));
      else reject(new Error(`a waiter got ${response.statusCode}: ${text.slice(0, 200)}`));
    });
  });
  sent.on('error', reject).end();
  // Observed when its activity is ended.
  promise.catch(() => undefined);
  return promise;
}

/** Ends the activities at a steady rate, within what is left of the wait. @returns the latencies in milliseconds */
async function endAll(database: pg.Client, all: readonly Waiter[]): Promise<number[]> {
  const startedAt = performance.now();
  const perSecond = Math.max(ENDED_PER_SECOND, all.length / 30);
  const latencies: Array<Promise<number>> = [];
  for (const [index, { activityId, ended }] of all.entries()) {
    await sleep(Math.max(0, startedAt + (index * 1000) / perSecond - performance.now()));
    await database.query({
      name: 'bench-end',
      text: `update activity set status = 'succeeded', completion_time = now() where id = $1`,
      values: [activityId],
    });
    const committedAt = performance.now();
    latencies.push(ended.then((at) => at - committedAt));
  }
  return Promise.all(latencies);
}

function report(
  { options }: BenchContext,
  count: number,
  usage: Record<'opening' | 'idle' | 'ending', Usage>,
  latencies: number[],
): Report {
  const builder = new ReportBuilder();
  for (const window of Object.values(usage)) builder.window(window);
  assert.equal(latencies.length, count, 'every waiter got the end');
  builder.asserted('every waiter was held and got the end of its activity');
  builder.row('waiters held', '', [count]);
  const sorted = latencies.toSorted((a, b) => a - b);
  builder.row('commit of the end to client, p50', 'ms', [quantile(sorted, 0.5)]);
  builder.row('commit of the end to client, p99', 'ms', [quantile(sorted, 0.99)]);
  const idleSeconds = usage.idle.wallMs / 1000;
  builder.row('CPU per 1,000 idle waiters and second, API', 'ms', [
    cpuMsOf(usage.idle, [API]) / idleSeconds / (count / 1000),
  ]);
  builder.row('CPU per end, API', 'ms', [cpuMsOf(usage.ending, [API]) / count]);
  const { startMiB } = usage.opening.roles[API]!;
  builder.row('memory per waiter, API', 'KiB', [((usage.idle.roles[API]!.startMiB - startMiB) * 1024) / count]);
  return builder.finish('waiters', { usage }, options.judgeAnyway);
}
