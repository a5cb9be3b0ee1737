import type { Database } from '../../../src/persistence/database/sql.ts';
import { createEngine, type Engine } from '../../../src/services/engine/engine.ts';
import { createAccount, createGroup, createMember } from '../../../tools/harness/accounts.ts';
import { TestClock } from '../activities/activity-rows.ts';
import { insertComputer } from '../computers/computers.ts';
import { createTestDatabase } from '../database/database.ts';
import { createAdmin, createTestApp, type TestApp, type TestAppOptions } from '../http/app.ts';
import { TEST_KEYS } from '../identity/test-keys.ts';

/** An application with two accounts and people of different rights. */
export interface FleetWorld {
  db: Database;
  app: TestApp;
  clock: TestClock;
  engine: Engine;
  accountId: number;
  adminId: number;
  /** Computers by title: web (servers), db (servers), desk (desktops), pending, archived, foreign. */
  ids: Readonly<Record<string, number>>;
  tokens: Readonly<Record<'admin' | 'auditor' | 'servers' | 'mixed' | 'foreign', string>>;
  /** Opens every batch and processes all pending events, as workers do. */
  processEvents(cancelAll?: boolean): Promise<void>;
  close(): Promise<void>;
}

/**
 * `servers` sees and manages access group servers alone, `mixed` manages servers and sees everything, `auditor` sees
 * everything, `foreign` administers the other account.
 */
export async function createFleetWorld(options: Pick<TestAppOptions, 'logger'> = {}): Promise<FleetWorld> {
  const database = await createTestDatabase();
  const { db } = database.persistence;
  const clock = new TestClock();
  const { accountId, personId } = await createAdmin(database.persistence);
  await createGroup(db, accountId, 'servers');
  await createGroup(db, accountId, 'desktops');
  const other = await createAccount(db, 'other');
  const ids = {
    web: await insertComputer(db, { accountId, title: 'web', group: 'servers' }),
    db: await insertComputer(db, { accountId, title: 'db', group: 'servers' }),
    desk: await insertComputer(db, { accountId, title: 'desk', group: 'desktops' }),
    pending: await insertComputer(db, { accountId, title: 'pending', state: 'pending' }),
    archived: await insertComputer(db, { accountId, title: 'archived', archived: true }),
    foreign: await insertComputer(db, { accountId: other.accountId, title: 'foreign' }),
  };
  const auditor = await createMember(db, { accountId, email: 'auditor@fleet.example', role: 'Auditor' });
  const restricted = { accountId, role: 'ServerAdmin', groups: ['servers'] };
  const servers = await createMember(db, { ...restricted, email: 'servers@fleet.example' });
  const mixed = await createMember(db, { ...restricted, email: 'mixed@fleet.example' });
  await db.query(
    `insert into membership_role (account_id, person_id, role_id)
     select $1, $2, id from role where account_id = $1 and name = 'Auditor'`,
    [accountId, mixed.personId],
  );
  const app = await createTestApp(database.persistence, { ...options, clock, settings: { encryptionKeys: TEST_KEYS } });
  const engine = createEngine({ db, clock, settings: { expiryDays: 30 } });
  return {
    db,
    app,
    clock,
    engine,
    accountId,
    adminId: personId,
    ids,
    tokens: {
      admin: await app.login(),
      auditor: await app.login(auditor),
      servers: await app.login(servers),
      mixed: await app.login(mixed),
      foreign: await app.login(other),
    },
    async processEvents(cancelAll = false) {
      for (const { id } of await db.query<{ id: number }>('select id from lane order by id')) {
        await engine.processPendingEvents(id, cancelAll);
      }
    },
    async close() {
      await app.close();
      await database.drop();
    },
  };
}
