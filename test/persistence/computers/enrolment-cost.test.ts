import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enrol } from '../../../src/gateway/enrolment/enrolment.ts';
import type { Registration } from '../../../src/gateway/enrolment/registration.ts';
import { saveComputers } from '../../../src/persistence/agents/reported-computers.sql.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import type { ProfileRunDeps } from '../../../src/services/scripts/profiles/script-profile-runs.ts';
import { createAccount } from '../../../tools/harness/accounts.ts';
import { countRowsRead, createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

const COMPUTERS = 20_000;
const NEW_COMPUTERS = 500;
/** Computers that an enrolment may look at: itself some times, and those of its own host. */
const FEW = 30;
/** Rows that an enrolment into a new fleet may read, also of identities. */
const FEW_OF_NEW = 20;
/** No script profile runs here. */
const RUNS = {} as ProfileRunDeps;

let database: TestDatabase;
let db: Database;
let readCount = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
  for (const table of ['computer', 'agent']) await db.query(`alter table ${table} set (autovacuum_enabled = off)`);
  const { accountId } = await createAccount(db, 'many');
  await db.query(
    `with made as (
       insert into computer (account_id, access_group_id, state, title, machine_id, hostagent_uid, is_wsl, registered_at)
       select $1, g.id, 'approved', 'many-' || n, 'machine-' || n, 'host-' || n / 4, n % 4 > 0, now()
       from access_group g, generate_series(1, $2::int) n
       where g.account_id = $1 and g.name = 'global' returning id)
     insert into agent (computer_id, registration_digest) select id, sha256(id::text::bytea) from made`,
    [accountId, COMPUTERS],
  );
});
afterAll(() => database.drop());

/** Notes how many rows of computers each transaction has read, with plans that were made without knowing the values. */
const watched = (): Database => ({
  ...db,
  query: (...args) => db.query(...args),
  transaction: (work) =>
    db.transaction(async (tx) => {
      await tx.query('set local plan_cache_mode = force_generic_plan');
      const { result, count } = await countRowsRead(tx, ['computer', 'agent'], () => work(tx));
      readCount = count;
      return result;
    }),
});

const registration = (name: string, of: Partial<Registration> = {}): Registration => ({
  accountName: 'many',
  password: null,
  title: name,
  hostname: name,
  tags: [],
  accessGroup: null,
  info: { vm_info: '', container_info: '' },
  machineId: null,
  proInfo: null,
  cloneSecureId: null,
  hostagentUid: null,
  madeAt: 1_750_000_000,
  faults: [],
  ...of,
});

const KINDS: Record<string, Partial<Registration>> = {
  'a machine nobody knows': { machineId: 'machine-new' },
  'a machine that is there already': { machineId: 'machine-7' },
  'a machine without an id': {},
  'an instance whose host is not there yet': { info: { vm_info: '', container_info: 'wsl' }, hostagentUid: 'host-new' },
  'an instance of a host': { info: { vm_info: '', container_info: 'wsl' }, hostagentUid: 'host-7' },
  'a host nobody knows': { hostagentUid: 'host-alone' },
};

describe.each([
  ['before there are statistics', []],
  ['with statistics', ['analyze computer', 'analyze agent']],
] as const)('an enrolment into a large fleet, %s', (name, preparation) => {
  beforeAll(async () => {
    for (const statement of preparation) await db.query(statement);
  });

  it.each(Object.entries(KINDS))('does not read the whole fleet for %s', async (kind, of) => {
    const deps = { db: watched(), runs: RUNS };
    const made = await enrol(deps, registration(`${kind} ${name}`, of), new Date(), () => {});
    expect(made.kind).toBe('enrolled');
    expect(readCount).toBeGreaterThan(0);
    expect(readCount).toBeLessThan(FEW);
  });

  it('does not read the whole fleet when computers report their machine ids', async () => {
    const rows = await db.query<{ id: number }>('select id from computer order by id desc limit 3');
    const reports = rows.map(({ id }, i) => ({ computerId: id, value: { machine_id: `machine-${i + 1}` } }));
    await watched().transaction((tx) => saveComputers(tx, reports));
    expect(readCount).toBeGreaterThan(0);
    expect(readCount).toBeLessThan(FEW);
    const flagged = await db.query<{ clones: number }>(
      'select count(distinct clone_id)::int as clones from computer where id = any($1::int[])',
      [rows.map(({ id }) => id)],
    );
    expect(flagged[0]!.clones).toBe(3);
  });
});

it('does not read the computers of a new fleet that have come since its plans were made', async () => {
  const small = await createTestDatabase();
  try {
    await createAccount(small.persistence.db, 'many');
    const { result, count } = await small.persistence.db.transaction(async (tx) => {
      await tx.query('set local plan_cache_mode = force_generic_plan');
      const own: Database = { ...small.persistence.db, transaction: (work) => work(tx) };
      const add = (name: string) => enrol({ db: own, runs: RUNS }, registration(name), new Date(), () => {});
      for (let made = 0; made < NEW_COMPUTERS; made++) await add(`new-${made}`);
      const tables = ['computer', 'agent', 'agent_identity', 'agent_spare_identity'];
      return countRowsRead(tx, tables, () => add('last'));
    });
    expect(result.kind).toBe('enrolled');
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(FEW_OF_NEW);
  } finally {
    await small.drop();
  }
});
