import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from '../bench.ts';
import type { Resources } from '../harness/resources.ts';
import { cpuMsOf, measure, type Role, type Usage } from '../harness/usage.ts';
import { startLoad } from '../load/load-client.ts';
import { API_PREFIX, type Api, logIn } from '../product/api.ts';
import { openDatabase } from '../product/database.ts';
import { OWN_ROLES } from '../product/roles.ts';
import type { Stack } from '../product/stack.ts';
import { createBareTables, type GrowthRound, type GrowthSetting, growthRound } from './growth-rounds.ts';

/** One product with its own agents. */
export interface ObservedSide {
  stack: Stack;
  api: Api;
  setting: GrowthSetting;
  ids: readonly number[];
}

export interface ObservedRound {
  group: GrowthRound;
  requests: { count: number; usage: Usage };
}

const CONNECTIONS = 16;
const SCRAPE_EVERY_MS = 1000;
const READINGS = 50;
const METRICS_PORTS = 12;

/** Enrols agents with a product. */
export async function prepareSide(context: BenchContext, stack: Stack, computers: number): Promise<ObservedSide> {
  const api = await logIn(stack);
  const database = await openDatabase(context, stack.environment()['FLOTILLA_DATABASE_URL']!);
  await createBareTables(database);
  const load = await startLoad(context.resources);
  context.progress(`enrolling ${computers} agents`);
  const command = { kind: 'enrol', port: stack.agentPorts, account: api.account, prefix: 'seen' } as const;
  const { ids } = await load.run({ ...command, count: computers });
  const roles: Role[] = [...stack.roles, { name: 'load', roots: () => [load.pid] }];
  return { stack, api, ids, setting: { api, agentPorts: stack.agentPorts, database, load, roles } };
}

/** An action on all computers of one side, then requests; the other sides idle and do not count as foreign. */
export async function observedRound(
  side: ObservedSide,
  all: readonly ObservedSide[],
  seconds: number,
): Promise<ObservedRound> {
  const idle = all
    .filter((other) => other !== side)
    .flatMap(({ setting }) => setting.roles.map((role) => ({ ...role, name: `idle ${role.name}` })));
  const roles: Role[] = [...side.setting.roles, ...idle, { name: 'bench', roots: () => [process.pid], alone: true }];
  const group = await growthRound({ ...side.setting, roles }, side.ids);
  const headers = { Authorization: `Bearer ${side.api.token}`, Accept: 'application/json' };
  const request = { method: 'GET', path: `${API_PREFIX}/person`, headers, bodies: [] };
  const { result, usage } = await measure(roles, () =>
    side.setting.load.run({ kind: 'repeat', port: side.stack.apiPorts, connections: CONNECTIONS, seconds, request }),
  );
  return { group, requests: { count: result.requests, usage } };
}

/** URLs of the metrics of every process of a product. @throws when there are none */
async function metricsOf(stack: Stack): Promise<string[]> {
  const first = Number(stack.environment()['FLOTILLA_METRICS_PORT']);
  const urls: string[] = [];
  for (let port = first; port < first + METRICS_PORTS; port++) {
    const url = `http://127.0.0.1:${port}/metrics`;
    if ((await read(url))?.includes('process_cpu_user_seconds_total')) urls.push(url);
  }
  if (urls.length === 0) throw new Error(`no process shows metrics on port ${first} or after`);
  return urls;
}

/** CPU time of one scrape of every process, in milliseconds, averaged over many. */
export async function readingCost({ stack }: ObservedSide): Promise<number> {
  const urls = await metricsOf(stack);
  const { usage } = await measure(stack.roles, async () => {
    for (let reading = 0; reading < READINGS; reading++) await Promise.all(urls.map(read));
  });
  return cpuMsOf(usage, OWN_ROLES) / READINGS;
}

/** Scrapes every process of a product once a second until stopped. */
export async function startScraping(resources: Resources, stack: Stack): Promise<{ stop(): Promise<void> }> {
  const urls = await metricsOf(stack);
  let isStopping = false;
  const run = async () => {
    while (!isStopping) {
      await Promise.all(urls.map(read));
      await sleep(SCRAPE_EVERY_MS);
    }
  };
  const running = run();
  const stop = async () => {
    isStopping = true;
    await running;
  };
  resources.defer(stop);
  return { stop };
}

async function read(url: string): Promise<string | null> {
  try {
    return await (await fetch(url, { headers: { connection: 'close' } })).text();
  } catch {
    return null;
  }
}
