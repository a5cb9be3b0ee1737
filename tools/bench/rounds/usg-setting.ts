import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { BenchContext } from '../bench.ts';
import { createStorageMeter, type StorageMeter, type Writes, writesBetween } from '../harness/storage.ts';
import { measure, type Role, type Usage } from '../harness/usage.ts';
import type { LoadCommand, LoadResult } from '../load/load.contract.ts';
import { startLoad } from '../load/load-client.ts';
import { API_PREFIX, type Api, logIn } from '../product/api.ts';
import { openDatabase } from '../product/database.ts';
import { pingSecondsFor, startFleet } from '../product/fleet.ts';
import { startProduct } from '../product/product.ts';
import type { Stack } from '../product/stack.ts';

/** Rules of a report, as many as in real benchmarks. */
export const RULES = 400;
/** Tag of audited computers: those that only exchange cannot audit. */
export const AUDITED_TAG = 'audited';
const EXCHANGING = 50;
const PROBE_EVERY_MS = 100;
const SETTLE_MS = 1500;

type Probe = Extract<LoadCommand, { kind: 'probe' | 'probe-exchange' }>;

export interface UsgSetting {
  stack: Stack;
  api: Api;
  database: pg.Client;
  /** Starts all probes; the returned function stops them. */
  probe(): () => Promise<Probed>;
  meter: StorageMeter;
  roles: readonly Role[];
}

/** Measurements of other clients meanwhile. */
export interface Probed {
  /** Over all agents in turn: a single one that pings so often would be rejected. */
  ping: LoadResult;
  exchange: LoadResult;
  api: LoadResult;
}

/** Usage and probes of a round. */
export interface Watched {
  probed: Probed;
  writes: { postgres: Writes; temporal: Writes };
  usage: Usage;
}

/** Starts a stack with a fleet that audits, and agents that only exchange. */
export async function prepareUsg(context: BenchContext, computers: number): Promise<UsgSetting> {
  const { options, resources, root } = context;
  const stack = await startProduct(context);
  const api = await logIn(stack);
  const database = await openDatabase(context, stack.environment()['FLOTILLA_DATABASE_URL']!);
  const meter = createStorageMeter(database, stack.dataDir);
  resources.defer(() => meter.close());
  context.progress(`enrolling ${computers} simulated computers`);
  const { pingSeconds = pingSecondsFor(computers) } = options;
  const command = { computers, account: api.account, pingSeconds, seed: 1, auditRules: RULES };
  const fleet = await startFleet(resources, root, stack, command);
  await database.query('update computer set tags = tags || $1::text', [AUDITED_TAG]);
  const probes = await startProbes(context, stack, api);
  const roles: Role[] = [
    ...stack.roles,
    { name: 'fleet (not counted)', roots: () => [fleet.pid] },
    { name: 'load', roots: () => probes.pids },
    { name: 'bench', roots: () => [process.pid], alone: true },
  ];
  return { stack, api, database, probe: probes.start, meter, roles };
}

async function startProbes({ resources }: BenchContext, { apiPorts, agentPorts }: Stack, api: Api) {
  const loads = [await startLoad(resources), await startLoad(resources), await startLoad(resources)] as const;
  const ids = await api.computerIds();
  await loads[1].run({
    kind: 'enrol',
    port: agentPorts,
    account: api.account,
    count: EXCHANGING,
    prefix: 'exchanging',
  });
  const pinging = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const headers = { Authorization: `Bearer ${api.token}`, Accept: 'application/json' };
  const bodies = ids.map((id) => `insecure_id=${id}`);
  const every = { everyMs: PROBE_EVERY_MS };
  const person = { method: 'GET', path: `${API_PREFIX}/person`, headers: headers, bodies: [] };
  const probes: readonly [Probe, Probe, Probe] = [
    { kind: 'probe', port: agentPorts, ...every, request: { method: 'POST', path: '/ping', headers: pinging, bodies } },
    { kind: 'probe-exchange', port: agentPorts, ...every },
    { kind: 'probe', port: apiPorts, ...every, request: person },
  ];
  return {
    pids: loads.map(({ pid }) => pid),
    start() {
      const stops = loads.map((load, i) => load.probe(probes[i]!));
      return async (): Promise<Probed> => {
        const [ping, exchange, listing] = await Promise.all(stops.map((stop) => stop()));
        return { ping: ping!, exchange: exchange!, api: listing! };
      };
    },
  };
}

/** Runs `work` while agents and an API client are served, and measures all of it. */
export async function watched<T>(setting: UsgSetting, work: () => Promise<T>): Promise<{ result: T } & Watched> {
  await sleep(SETTLE_MS);
  const before = await setting.meter.read();
  const stop = setting.probe();
  const { result, usage } = await measure(setting.roles, work);
  const after = await setting.meter.read();
  const probed = await stop();
  for (const { failures } of Object.values(probed)) assert.equal(failures, 0, 'no response but 200 meanwhile');
  const writes = {
    postgres: writesBetween(before.postgres, after.postgres),
    temporal: writesBetween(before.temporal, after.temporal),
  };
  return { result, probed, writes, usage };
}

/** Creates a monthly audit profile. */
export function createProfile(api: Api, title: string, over: object): Promise<{ id: number }> {
  const profile = { title, benchmark: 'cis_level1_server', mode: 'audit', schedule: 'FREQ=MONTHLY', ...over };
  return api.call('POST', '/usg-profiles', profile);
}
