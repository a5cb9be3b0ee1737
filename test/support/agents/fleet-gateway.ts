import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createGateway, type Gateway } from '../../../src/gateway/http/gateway.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { loadConfig } from '../../../src/process/config.ts';
import { createLogger } from '../../../src/process/logger.ts';
import { systemClock } from '../../../src/services/common/ports.ts';
import { createFleet, type Fleet, type FleetOptions } from '../../../tools/simulator/fleet.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';

export const QUIET = createLogger({ level: 'error', role: 'test' });

/** A real gateway on a database of its own, on a free port. */
export interface TestGateway {
  database: TestDatabase;
  url: string;
  /** Queues an operation as the engine does. @returns its id */
  give(computerId: number, type: string, fields: object): Promise<number>;
  /** Waits for the results of an operation, and a moment longer for a second one. */
  resultsOf(operationId: number): Promise<StoredResult[]>;
  /** A fast fleet for this gateway; the caller stops it. */
  fleet(options?: Partial<FleetOptions>): Fleet;
  close(): Promise<void>;
}

export interface StoredResult {
  ok: boolean;
  code: number | null;
  body: string | null;
}

export const QUICK = { pingMs: 300, urgentMs: 100, operationMs: 50, rebootMs: 200, retryMs: 100, rampMs: 50 };

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
    resultsOf: (operationId) => waitForResults(database.persistence.db, operationId),
    fleet: (options = {}) =>
      createFleet({
        computers: 1,
        url,
        logger: QUIET,
        account: 'standalone',
        tickMs: 10,
        ...options,
        times: { ...QUICK, ...options.times },
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

const RESULT_LIMIT_MS = 20_000;
const SECOND_RESULT_MS = 300;

async function waitForResults(db: Database, operationId: number): Promise<StoredResult[]> {
  const read = () =>
    db.query<StoredResult & Record<string, unknown>>(
      `select ok, code, body from agent_inbox where activity_id = $1 and kind = 'result' order by id`,
      [operationId],
    );
  for (const end = performance.now() + RESULT_LIMIT_MS; performance.now() < end; ) {
    if ((await read()).length > 0) {
      await pause(SECOND_RESULT_MS);
      return read();
    }
    await pause(20);
  }
  throw new Error(`no result of operation ${operationId}`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
