import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { vi } from 'vitest';
import { createGateway, type Gateway } from '../../../src/gateway/http/gateway.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import type { Persistence } from '../../../src/persistence/orm/orm.ts';
import { loadConfig } from '../../../src/process/config.ts';
import { createLogger } from '../../../src/process/logger.ts';
import { systemClock } from '../../../src/services/common/ports.ts';
import { createEngine, type Engine } from '../../../src/services/engine/engine.ts';
import { createAccount, createGroup, createMember } from '../../../tools/harness/accounts.ts';
import { createFleet, type Fleet, type FleetOptions } from '../../../tools/simulator/fleet.ts';
import { TestClock } from '../activities/activity-rows.ts';
import { insertComputer } from '../computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { createAdmin, createTestApp, TEST_KEYS, type TestApp, type TestAppOptions } from '../http/app.ts';

/** An application with two accounts and people of different rights. */
export interface FleetWorld {
  db: Database;
  persistence: Persistence;
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
  const engine = createEngine({ ...database.persistence, clock, settings: { expiryDays: 30 } });
  return {
    db,
    persistence: database.persistence,
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

export const QUIET = createLogger({ level: 'error', role: 'test' });

/** A real gateway on a database of its own, on a free port. */
export interface TestGateway {
  database: TestDatabase;
  url: string;
  /** Queues an operation as the engine does. @returns its id */
  give(computerId: number, type: string, fields: object): Promise<number>;
  /** Waits for a result of an operation, and until the fleet has nothing left to send. */
  resultsOf(operationId: number, fleet?: Fleet): Promise<StoredResult[]>;
  /** A fast fleet for this gateway; the caller stops it. */
  fleet(options?: Partial<FleetOptions>): Fleet;
  close(): Promise<void>;
}

interface StoredResult {
  ok: boolean;
  code: number | null;
  body: string | null;
}

export const FAST_TIMES = { pingMs: 300, urgentMs: 100, operationMs: 50, rebootMs: 200, retryMs: 100, rampMs: 50 };

export async function startGateway(): Promise<TestGateway> {
  const database = await createTestDatabase();
  const gateway = createGateway({
    persistence: database.persistence,
    config: loadConfig({ FLOTILLA_ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}` }, 'stack'),
    logger: QUIET,
    clock: systemClock,
  });
  const server = await listen(gateway);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    database,
    url,
    give: (computerId, type, fields) => insertOperation(database.persistence.db, computerId, type, fields),
    resultsOf: (operationId, fleet) => resultsOf(database.persistence.db, operationId, fleet),
    fleet: (options = {}) =>
      createFleet({
        computers: 1,
        url,
        logger: QUIET,
        account: 'standalone',
        tickMs: 10,
        ...options,
        times: { ...FAST_TIMES, ...options.times },
      }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await gateway.close();
      await database.drop();
    },
  };
}

async function listen(gateway: Gateway): Promise<Server> {
  const server = createServer(express().use(gateway.router));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function insertOperation(db: Database, computerId: number, type: string, fields: object): Promise<number> {
  const [row] = await db.query<{ id: number }>(
    `with payload as (
       insert into operation_payload (account_id, message_type, fields)
       select account_id, $2, $3 from computer where id = $1 returning id, account_id),
     operation as (
       insert into activity (account_id, lane_id, computer_id, payload_id, type, summary, status)
       select account_id, 1, $1, id, 'Test', 'test', 'undelivered' from payload returning id, payload_id),
     message as (
       insert into agent_message (activity_id, lane_id, computer_id, payload_id, state, deliver_at)
       select id, 1, $1, payload_id, 'queued', now() from operation)
     select id from operation`,
    [computerId, type, JSON.stringify(fields)],
  );
  return row!.id;
}

async function resultsOf(db: Database, operationId: number, fleet?: Fleet): Promise<StoredResult[]> {
  const read = () =>
    db.query<StoredResult & Record<string, unknown>>(
      `select ok, code, body from agent_inbox where activity_id = $1 and kind = 'result' order by id`,
      [operationId],
    );
  const some = async () => {
    const results = await read();
    if (results.length === 0) throw new Error(`no result of operation ${operationId}`);
    return results;
  };
  const results = await vi.waitFor(some, { timeout: 20_000, interval: 20 });
  await fleet?.settled(10_000);
  return fleet ? read() : results;
}
