import { writeFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { findSetting } from '../../../src/persistence/common/system-settings.repository.ts';
import type { BObject } from '../../../src/protocol/bpickle.ts';
import { buildHashIdDatabase } from '../../../src/services/software/hash-id-databases.ts';
import { testLogger } from '../../../tools/harness/test-log.ts';
import { createFleet } from '../../../tools/simulator/fleet.ts';
import { toRanges } from '../../../tools/simulator/inventory/package-sets.ts';
import { anAccount, createGatewayWorld, type GatewayWorld } from '../../support/agents/gateway-world.ts';
import { RawAgent } from '../../support/agents/raw-agent.ts';

/** As agents request them by default. */
const HASHES_PER_REQUEST = 500;
const DIGEST = `decode(md5(n::text) || substr(md5(n::text), 1, 8), 'hex')`;

let world: GatewayWorld;
let account: { id: number; name: string };

beforeEach(async () => {
  world = await createGatewayWorld();
  account = await anAccount(world.db, { name: 'standalone' });
});
afterEach(() => world?.close());

async function build(codeName = 'noble'): Promise<void> {
  const { db, config } = world;
  await buildHashIdDatabase({ db, logger: testLogger(), settings: config.hashIdDatabases }, codeName);
}

async function download(release = 'noble', headers: Record<string, string> = {}, url = world.url) {
  const uuid = await findSetting(world.db, 'server_uuid');
  return fetch(`${url}/hash-id-databases/${uuid}_${release}`, { headers });
}

/** Packages that the server knows by an older computer. @returns their digests in hex, sorted */
async function knownPackages(count: number): Promise<string[]> {
  const rows = await world.db.query<{ id: number; hash: string }>(
    `insert into package (hash, type, name, version, relations)
     select ${DIGEST}, 65537, 'package-' || n, '1', '[]' from generate_series(1, $1::int) n
     returning id, encode(hash, 'hex') as hash`,
    [count],
  );
  const agent = await enrol();
  const hashes = rows.map(({ hash }) => hash).sort();
  await reportPackages(agent, hashes, new Map());
  return hashes;
}

async function enrol(of = account): Promise<RawAgent> {
  const agent = await RawAgent.enrol(world, of);
  await agent.exchange([{ type: 'distribution-info', 'code-name': 'noble', release: '24.04' }]);
  return agent;
}

/** What an agent reads of the file. */
async function readIds(file: Buffer): Promise<Map<string, number>> {
  const directory = await mkdtemp(join(tmpdir(), 'flotilla-test-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, 'file'), file);
  const database = new DatabaseSync(join(directory, 'file'));
  const rows = database.prepare('select id, hash from hash').all() as Array<{ id: number; hash: Uint8Array }>;
  database.close();
  return new Map(rows.map(({ id, hash }) => [Buffer.from(hash).toString('hex'), id]));
}

/** As an agent does: what it has ids of is reported, and of the rest one request goes with each exchange. */
async function reportPackages(agent: RawAgent, hashes: readonly string[], ids: Map<string, number>): Promise<number> {
  const reported = new Set<string>();
  for (let exchanges = 0; ; exchanges++) {
    const unknown = hashes.filter((hash) => !ids.has(hash)).slice(0, HASHES_PER_REQUEST);
    const known = hashes.filter((hash) => ids.has(hash) && !reported.has(hash));
    const messages: BObject[] = [];
    if (known.length > 0) messages.push({ type: 'packages', available: toRanges(known.map((hash) => ids.get(hash)!)) });
    if (unknown.length > 0) {
      const wanted = unknown.map((hash) => Buffer.from(hash, 'hex'));
      messages.push({ type: 'unknown-package-hashes', 'request-id': exchanges + 1, hashes: wanted });
    }
    if (messages.length === 0) return exchanges;
    const response = await agent.exchange(messages);
    for (const hash of known) reported.add(hash);
    for (const message of response.messages) {
      expect(message['type']).toBe('package-ids');
      for (const [place, id] of (message['ids'] as number[]).entries()) ids.set(unknown[place]!, id);
    }
  }
}

async function availableOf(agent: RawAgent): Promise<number> {
  const [row] = await world.db.query<{ count: number }>(
    `select sum(upper(r) - lower(r))::int as count from computer_packages p, unnest(p.available) r where p.computer_id = $1`,
    [agent.id],
  );
  return row?.count ?? 0;
}

describe('GET /hash-id-databases', () => {
  it('returns the file of a release for every architecture, and 304 to who has it', async () => {
    const hashes = await knownPackages(10);
    expect((await download('noble_amd64')).status).toBe(404);
    await build();
    const response = await download('noble_amd64');
    expect(response.status).toBe(200);
    const file = Buffer.from(await response.arrayBuffer());
    expect([...(await readIds(file)).keys()].sort()).toEqual(hashes);
    const etag = response.headers.get('etag')!;
    expect(etag).toMatch(/^"[0-9a-f]{64}"$/);
    const again = await download('noble_arm64', { 'If-None-Match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const elsewhere = await download('noble_arm64', {}, (await world.another()).url);
    expect(Buffer.from(await elsewhere.arrayBuffer())).toEqual(file);
  });

  it('returns the next file once it is stored', async () => {
    await knownPackages(10);
    await build();
    const before = (await download('noble_amd64')).headers.get('etag')!;
    await world.db.query(`insert into package (hash, type, name, version, relations)
      select ${DIGEST}, 65537, 'late', '1', '[]' from generate_series(11, 11) n`);
    const [row] = await world.db.query<{ hash: string }>(
      `select encode(${DIGEST}, 'hex') as hash from (select 11) t(n)`,
    );
    await reportPackages(await enrol(), [row!.hash], new Map());
    await build();
    const response = await download('noble_amd64', { 'If-None-Match': before });
    expect(response.status).toBe(200);
    expect((await readIds(Buffer.from(await response.arrayBuffer()))).size).toBe(11);
  });

  it('returns 404 for what there is not', async () => {
    await knownPackages(1);
    await build();
    const names = ['jammy_amd64', 'noble', '_amd64', 'noble_amd64_x', 'noble_AMD', '%2e%2e_amd64', 'a/b_amd64'];
    for (const name of names) expect((await download(name)).status, name).toBe(404);
    const otherServer = `${world.url}/hash-id-databases/00000000-0000-4000-8000-000000000000_noble_amd64`;
    expect((await fetch(otherServer)).status).toBe(404);
  });

  it('returns 429 to an address that downloads without end', async () => {
    const env = { FLOTILLA_ENROLMENT_RATE_LIMIT: '0.01', FLOTILLA_ENROLMENT_RATE_BURST: '2' };
    const limited = await createGatewayWorld({ env });
    onTestFinished(() => limited.close());
    const uuid = await findSetting(limited.db, 'server_uuid');
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++)
      statuses.push((await fetch(`${limited.url}/hash-id-databases/${uuid}_noble_amd64`)).status);
    expect(statuses).toEqual([404, 404, 429]);
  });
});

describe('the first package list of a computer', () => {
  const COUNT = 5_000;
  let hashes: string[];

  beforeEach(async () => {
    hashes = await knownPackages(COUNT);
  });

  it('takes an exchange per 500 packages without a file, and one with it', async () => {
    const [before, after] = [await enrol(), await enrol()];
    expect(await reportPackages(before, hashes, new Map())).toBe(COUNT / HASHES_PER_REQUEST + 1);
    await build();
    const file = Buffer.from(await (await download('noble_amd64')).arrayBuffer());
    expect(await reportPackages(after, hashes, await readIds(file))).toBe(1);
    expect([await availableOf(before), await availableOf(after)]).toEqual([COUNT, COUNT]);
    expect((await after.exchange()).messages).toEqual([]);
  });
});

it('an account that was never told the ids of a file may name them, and no others', async () => {
  const others = [account, await anAccount(world.db), await anAccount(world.db)];
  const hashes = await knownPackages(20);
  for (const one of others.slice(1)) await reportPackages(await enrol(one), hashes.slice(0, 10), new Map());
  await build();
  const ids = await readIds(Buffer.from(await (await download('noble_amd64')).arrayBuffer()));
  expect([...ids.keys()].sort()).toEqual(hashes.slice(0, 10));
  const agent = await enrol(await anAccount(world.db));
  expect(await reportPackages(agent, hashes.slice(0, 10), ids)).toBe(1);
  expect(await availableOf(agent)).toBe(10);
  expect((await agent.exchange()).messages).toEqual([]);
  const all = await world.db.query<{ id: number }>('select id from package');
  await agent.exchange([{ type: 'packages', installed: all.map(({ id }) => id) }]);
  expect((await agent.exchange()).types).toEqual(['resynchronize']);
});

it('simulated computers use the file', async () => {
  const start = async (seed: number): Promise<void> => {
    const times = { pingMs: 300, urgentMs: 50, retryMs: 50, rampMs: 0 };
    const fleet = createFleet({ computers: 1, url: world.url, seed, logger: testLogger(), times, tickMs: 5 });
    onTestFinished(() => fleet.stop());
    await fleet.start();
    await fleet.settled(30_000);
    expect([...fleet.violations.keys()]).toEqual([]);
  };
  const requests = async () =>
    Number(/messages_received_total\{type="unknown-package-hashes"\} (\d+)/.exec(await world.metrics())?.[1] ?? 0);
  await start(1);
  const before = await requests();
  expect(before).toBeGreaterThan(0);
  const [row] = await world.db.query<{ name: string }>(`select distribution_info->>'code_name' as name from computer`);
  await build(row!.name);
  await start(2);
  expect(await requests()).toBe(before);
  const sets = await world.db.query('select distinct available::text from computer_packages');
  expect(sets).toHaveLength(1);
});
