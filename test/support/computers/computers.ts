import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import type { Sql } from '../../../src/persistence/database/sql.ts';
import { BFloat, type BValue } from '../../../src/protocol/bpickle.ts';
import { anAccount, createGatewayWorld, type GatewayWorld } from '../agents/gateway-world.ts';
import { RawAgent, type ServedFleet } from '../agents/raw-agent.ts';

interface ComputerSeed {
  accountId: number;
  title?: string;
  /** Name of an access group of the account. */
  group?: string;
  state?: 'pending' | 'approved';
  archived?: boolean;
  tags?: string[];
  parentId?: number;
  isWsl?: boolean;
  isDefaultChild?: boolean;
  hostagentUid?: string;
}

/** Stores one computer and returns its id. */
export async function insertComputer(sql: Sql, seed: ComputerSeed): Promise<number> {
  const title = seed.title ?? 'web-1';
  const rows = await sql.query<{ id: number }>(
    `insert into computer (account_id, access_group_id, state, archived, title, hostname, tags, parent_id, is_wsl,
       is_default_child, hostagent_uid, registered_at)
     select $1, g.id, $3, $4, $5, $6, $7, $8, $9, $10, $11, now() from access_group g where g.account_id = $1 and g.name = $2
     returning id`,
    [
      seed.accountId,
      seed.group ?? 'global',
      seed.state ?? 'approved',
      seed.archived ?? false,
      title,
      `${title}.fleet.example`,
      seed.tags ?? [],
      seed.parentId ?? null,
      seed.isWsl ?? false,
      seed.isDefaultChild ?? null,
      seed.hostagentUid ?? null,
    ],
  );
  return rows[0]!.id;
}

/** What computers report and how the API shows it, on a fleet that is made before the first test. */
export function computerReports(fleetOf: () => ServedFleet) {
  /** A new computer that reports this. */
  async function reporting(...messages: BValue[]): Promise<RawAgent> {
    const [agent] = (await fleetOf().enrol(1)) as [RawAgent];
    await agent.exchange(messages);
    return agent;
  }

  async function detail(agent: { id: number }, parameters: string) {
    const { app, token } = fleetOf();
    const response = await app.call('GET', `/computers/${agent.id}?${parameters}`, { token });
    expect(response.status).toBe(200);
    return response.body;
  }

  /** The computer as the list shows it; the detail has to be the same. */
  async function read(agent: { id: number }, parameters: string) {
    const { app, token } = fleetOf();
    const { body } = await app.call('GET', `/computers?root_only=false&${parameters}`, { token });
    const item = body.results.find(({ id }: { id: number }) => id === agent.id);
    // Times of contact are written a moment after it.
    const { last_exchange_time: _, ...rest } = item;
    expect(await detail(agent, parameters)).toMatchObject(rest);
    return item;
  }

  return { reporting, detail, read };
}

/** Puts a version into the catalogue, as agents describing it do. @returns its id */
export async function insertPackage(
  db: Sql,
  name: string,
  version: string,
  summary = `${name} for tests`,
): Promise<number> {
  const hash = createHash('sha1').update(`${name} ${version}`).digest();
  const rows = await db.query<{ id: number }>(
    `insert into package (hash, type, name, version, summary, relations) values ($1, 65537, $2, $3, $4, '[]')
     on conflict (hash) do update set summary = excluded.summary returning id`,
    [hash, name, version, summary],
  );
  return rows[0]!.id;
}

/** Lets the computers of an account name ids, as if a gateway had sent all of these. */
export async function announcePackages(db: Sql, accountId: number, first: number, last = first): Promise<void> {
  await db.query(
    `insert into account_packages as a values ($1, int4multirange(int4range($2, $3, '[]')))
     on conflict (account_id) do update set known = a.known + excluded.known`,
    [accountId, first, last],
  );
}

export interface ReportedSets {
  installed?: readonly number[];
  available?: readonly number[];
  upgrades?: readonly number[];
  locked?: readonly number[];
  security?: readonly number[];
}

/** Replaces the package sets of a computer, as its agent's report does. */
export async function reportPackages(db: Sql, computer: number, sets: ReportedSets): Promise<void> {
  const of = (ids: readonly number[] = []) => `{${ids.map((id) => `[${id},${id}]`).join(',')}}`;
  await db.query(
    `insert into computer_packages (computer_id, installed, available, available_upgrades, locked, security, updated_at)
     values ($1, $2, $3, $4, $5, $6, now())
     on conflict (computer_id) do update set installed = excluded.installed, available = excluded.available,
       available_upgrades = excluded.available_upgrades, locked = excluded.locked, security = excluded.security`,
    [computer, of(sets.installed), of(sets.available), of(sets.upgrades), of(sets.locked), of(sets.security)],
  );
}

/** Three versions of a kernel meta package, oldest first, with their images; the middle one is installed. */
export async function reportKernels(db: Sql, computer: number) {
  const name = 'linux-image-generic';
  const [old, now, next] = [
    await insertPackage(db, name, '6.8.0.9.9'),
    await insertPackage(db, name, '6.8.0.45.45'),
    await insertPackage(db, name, '6.8.0.101.101'),
  ];
  const images = {
    now: await insertPackage(db, 'linux-image-6.8.0-45-generic', '6.8.0-45.45'),
    next: await insertPackage(db, 'linux-image-6.8.0-101-generic', '6.8.0-101.101'),
  };
  await reportPackages(db, computer, {
    installed: [now, images.now],
    available: [old, now, next, images.now, images.next],
    upgrades: [next],
  });
  return { old, now, next, images };
}

type Row = Record<string, unknown>;

/** What the database has of a computer, on a gateway and with an agent that are made before each test. */
export function reportedRows(worldOf: () => GatewayWorld, agentOf: () => RawAgent) {
  const rows = (table: string, columns = '*', order = '1'): Promise<Row[]> =>
    worldOf().db.query(`select ${columns} from ${table} where computer_id = $1 order by ${order}`, [agentOf().id]);

  const computer = async (): Promise<Row> =>
    (await worldOf().db.query('select * from computer where id = $1', [agentOf().id]))[0]!;

  const rejected = () => rows('agent_rejected_message', 'type, seen', 'type');

  return { rows, computer, rejected };
}

/** A process as agents report it. */
export const aProcess = (pid: number, change: Record<string, BValue> = {}) => ({
  pid,
  name: `p${pid}`,
  state: Buffer.from('S'),
  uid: 0,
  gid: 0,
  'start-time': 1_795_265_174 + pid,
  'vm-size': 100,
  'percent-cpu': new BFloat(1),
  ...change,
});

/** A gateway for the tests of a file, and the agent of the test that runs. */
interface ReportingAgent {
  readonly world: GatewayWorld;
  agent: RawAgent;
}

/**
 * Makes a gateway for the tests of a file, with an agent that enrols anew before each of them and may name ten packages.
 * To be called once, at the top of the file.
 *
 * @returns them, with what is known of the agent's computer
 */
export function reportingAgent() {
  const here = {} as { -readonly [K in keyof ReportingAgent]: ReportingAgent[K] };
  let account: { id: number; name: string };
  beforeAll(async () => {
    here.world = await createGatewayWorld();
    account = await anAccount(here.world.db);
    await announcePackages(here.world.db, account.id, 1, 10);
  });
  afterAll(() => here.world?.close());
  beforeEach(async () => {
    here.agent = await RawAgent.enrol(here.world, account);
    await here.agent.exchange();
  });
  const events = async (): Promise<string[]> => {
    const found = await here.world.db.query<{ message: string }>(
      `select message from event where entity_type = 'Computer' and entity_id = $1 order by id`,
      [here.agent.id],
    );
    return found.map(({ message }) => message);
  };
  const known = reportedRows(
    () => here.world,
    () => here.agent,
  );
  return { here: here as ReportingAgent, events, ...known };
}
