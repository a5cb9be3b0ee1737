import { writeFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { findHashIdDatabase, readHashIdDatabase } from '../../../src/persistence/software/hash-id-databases.sql.ts';
import { findReportablePackages } from '../../../src/persistence/software/packages.sql.ts';
import { buildHashIdDatabase, listReleases } from '../../../src/services/software/hash-id-databases.ts';
import { testLogger } from '../../../tools/harness/test-log.ts';
import { anAccount } from '../../support/agents/gateway-world.ts';
import { insertComputer, insertPackage, type ReportedSets, reportPackages } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

const MIB = 1024 * 1024;

let database: TestDatabase;
let db: Database;
let one: number;
let a: number;
let b: number;
let c: number;

beforeEach(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
  one = (await anAccount(db)).id;
  [a, b, c] = [await insertPackage(db, 'a', '1'), await insertPackage(db, 'b', '1'), await insertPackage(db, 'c', '1')];
});
afterEach(() => database?.drop());

const deps = (over: { maxBytes?: number; hasOneAccount?: boolean } = {}) => ({
  db,
  logger: testLogger(),
  settings: { maxBytes: 16 * MIB, hasOneAccount: true, ...over },
});
const build = (over = {}, codeName = 'noble') => buildHashIdDatabase(deps(over), codeName);

async function report(accountId: number, sets: ReportedSets, codeName = 'noble'): Promise<void> {
  const title = `web-${Math.random()}`;
  const computer = await insertComputer(db, { accountId, title });
  const info = JSON.stringify({ code_name: codeName });
  await db.query('update computer set distribution_info = $1 where id = $2', [info, computer]);
  await reportPackages(db, computer, sets);
}

/** What agents read from the file; null if there is none for them. */
async function read(codeName = 'noble'): Promise<Map<number, string> | null> {
  const etag = await findHashIdDatabase(db, codeName);
  const content = etag && (await readHashIdDatabase(db, codeName, etag));
  if (!content) return null;
  const directory = await mkdtemp(join(tmpdir(), 'flotilla-test-'));
  try {
    const path = join(directory, 'database');
    await writeFile(path, content);
    const file = new DatabaseSync(path);
    const rows = file.prepare('select id, hash from hash order by id').all() as Array<{ id: number; hash: Uint8Array }>;
    file.close();
    return new Map(rows.map(({ id, hash }) => [id, Buffer.from(hash).toString('hex')]));
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function hashOf(id: number): Promise<string> {
  const [row] = await db.query<{ hash: Buffer }>('select hash from package where id = $1', [id]);
  return row!.hash.toString('hex');
}

const ids = async (codeName?: string) => [...((await read(codeName))?.keys() ?? [])];
const namable = async (account: number) => [...(await findReportablePackages(db, account, [a, b, c]))];

describe('a server with one account', () => {
  it('offers what the computers of a release can install, whatever they have installed', async () => {
    await report(one, { available: [a, b], installed: [a, c] });
    await report(one, { available: [c] }, 'jammy');
    expect((await listReleases(deps())).sort()).toEqual(['jammy', 'noble']);
    expect(await build()).toBe(2);
    expect(await build({}, 'jammy')).toBe(1);
    expect(await read()).toEqual(
      new Map([
        [a, await hashOf(a)],
        [b, await hashOf(b)],
      ]),
    );
    expect(await ids('jammy')).toEqual([c]);
    expect(await ids('focal')).toEqual([]);
  });

  it('serves nobody once there is another account, which may not name its packages either', async () => {
    await report(one, { available: [a, b] });
    await build();
    const other = (await anAccount(db)).id;
    expect(await read()).toBeNull();
    expect(await namable(other)).toEqual([]);
    await build();
    expect(await read()).toBeNull();
    expect(await db.query('select from hash_id_database')).toEqual([]);
  });

  it('builds nothing while it may get others', async () => {
    await report(one, { available: [a, b] });
    expect(await build({ hasOneAccount: false })).toBe(0);
    expect(await read()).toBeNull();
  });
});

describe('a server with several accounts', () => {
  let two: number;
  let three: number;

  beforeEach(async () => {
    two = (await anAccount(db)).id;
    three = (await anAccount(db)).id;
    for (const account of [one, two, three]) await report(account, { available: [a] });
    for (const account of [one, two]) await report(account, { available: [b] });
    for (const _ of [1, 2, 3]) await report(one, { available: [c] });
  });

  it('offers what three accounts know, and lets each of them and each later one name it', async () => {
    const silent = (await anAccount(db)).id;
    expect(await build()).toBe(1);
    expect(await ids()).toEqual([a]);
    const later = (await anAccount(db)).id;
    for (const account of [one, two, three, silent, later]) expect(await namable(account)).toEqual([a]);
  });

  it('goes on letting accounts name what an earlier file held', async () => {
    await build();
    await db.query('update computer_packages set available = $1', [`{[${b},${b}]}`]);
    await build();
    expect(await ids()).toEqual([b]);
    expect(await namable((await anAccount(db)).id)).toEqual([a, b]);
  });

  it('misses no account that is created meanwhile', async () => {
    await Promise.all([build(), anAccount(db), build(), anAccount(db)]);
    const accounts = await db.query<{ id: number }>('select id from account');
    for (const { id } of accounts) expect(await namable(id)).toEqual([a]);
  });
});

describe('a file', () => {
  it('stays as it is while nothing changes', async () => {
    await report(one, { available: [a, b] });
    await Promise.all([build(), build()]);
    const state = () => db.query('select xmin::text, etag from hash_id_database');
    const before = await state();
    await build();
    expect(await state()).toEqual(before);
  });

  it('holds the newest packages when not all fit', async () => {
    await report(one, { available: [a, b, c] });
    expect(await build({ maxBytes: 150 })).toBe(2);
    expect(await ids()).toEqual([b, c]);
  });

  it('is smaller than the setting says', async () => {
    await db.query(
      `insert into package (id, hash, type, name, version, relations)
       select 1000000000 + n, decode(md5(n::text) || substr(md5(n::text), 1, 8), 'hex'), 65537, 'p' || n, '1', '[]'
       from generate_series(1, 40000) n`,
    );
    await report(one, {});
    await db.query('update computer_packages set available = $1', ['{[1000000001,1000040000]}']);
    expect(await build({ maxBytes: 2 * MIB })).toBe(Math.floor((2 * MIB) / 72));
    const [row] = await db.query<{ size: number }>('select length(content) as size from hash_id_database');
    expect(row!.size).toBeLessThan(2 * MIB);
    expect(row!.size).toBeGreaterThan(1.6 * MIB);
  });

  it('goes with its release, and with the setting', async () => {
    await report(one, { available: [a] });
    await report(one, { available: [a] }, 'jammy');
    await build();
    await build({}, 'jammy');
    await db.query(`update computer set distribution_info = '{"code_name": "noble"}'`);
    expect(await listReleases(deps())).toEqual(['noble']);
    expect(await ids('jammy')).toEqual([]);
    expect(await listReleases(deps({ maxBytes: 0 }))).toEqual([]);
    expect(await read()).toBeNull();
  });

  it('is for releases that an agent can name', async () => {
    for (const codeName of ['', 'a_b', 'NOBLE', '../x', 'x'.repeat(65)])
      await report(one, { available: [a] }, codeName);
    expect(await listReleases(deps())).toEqual([]);
  });
});
