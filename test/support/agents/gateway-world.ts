import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createGateway, type Gateway } from '../../../src/gateway/http/gateway.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { openPersistence } from '../../../src/persistence/orm/orm.ts';
import { createClientAddress } from '../../../src/process/client-address.ts';
import { type Config, loadConfig } from '../../../src/process/config.ts';
import type { Logger } from '../../../src/process/logger.ts';
import { createTcpProxy } from '../../../tools/harness/tcp-proxy.ts';
import { testLogger } from '../../../tools/harness/test-log.ts';
import { createTestDatabase } from '../database/database.ts';
import { RawAgent } from './raw-agent.ts';

export interface GatewayWorld {
  url: string;
  db: Database;
  /** The gateway's connections to its database. */
  connection: { cut(): Promise<void>; mend(): Promise<void> };
  config: Config;
  gateway: Gateway;
  /** A second gateway on the same database, as in another process. */
  another(): Promise<{ url: string }>;
  /** The metrics of the first gateway. */
  metrics(): Promise<string>;
  clock: { now(): Date; advance(ms: number): void };
  close(): Promise<void>;
}

/** Only the gateway, with HTTP and a database. */
export async function createGatewayWorld(
  options: { poolSize?: number; env?: Record<string, string>; logger?: Logger } = {},
): Promise<GatewayWorld> {
  const database = await createTestDatabase({ poolSize: options.poolSize ?? 10 });
  const { hostname, port } = new URL(database.url);
  const proxy = await createTcpProxy({ host: hostname, port: Number(port) });
  const persistence = await openPersistence({
    url: database.url.replace(`${hostname}:${port}`, `127.0.0.1:${proxy.port}`),
    poolSize: options.poolSize ?? 10,
    applicationName: 'gateway-test',
  });
  const key = `test:${randomBytes(32).toString('base64')}`;
  const config = loadConfig({ FLOTILLA_ENCRYPTION_KEYS: key, ...options.env }, 'stack');
  const logger = options.logger ?? testLogger();
  let nowMs = Date.now();
  const clock = {
    now: () => new Date(nowMs),
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
  const servers: Server[] = [];
  const gateways: Gateway[] = [];
  const registry = new Registry();
  const start = async (own = new Registry()): Promise<{ url: string; gateway: Gateway }> => {
    const gateway = createGateway({
      persistence,
      registry: own,
      config,
      logger,
      clock,
      clientAddress: createClientAddress(config.trustedProxies),
    });
    const server = createServer(express().use(gateway.router));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    servers.push(server);
    gateways.push(gateway);
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, gateway };
  };
  return {
    ...(await start(registry)),
    metrics: () => registry.metrics(),
    db: database.persistence.db,
    connection: proxy,
    config,
    clock,
    another: () => start(),
    async close() {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise((closed) => server.close(closed));
      }
      for (const gateway of gateways) await gateway.close();
      await persistence.close();
      await proxy.cut();
      await database.drop();
    },
  };
}

/** A gateway for the tests of a file, with an account, and for each test an agent that has enrolled and an empty inbox. */
export interface EnrolledAgent {
  world: GatewayWorld;
  account: { id: number; name: string };
  agent: RawAgent;
}

/** @param options - `exchanged: false` for an agent before its first exchange. */
export function useAgent({ exchanged = true } = {}): EnrolledAgent {
  const given = {} as EnrolledAgent;
  beforeAll(async () => {
    given.world = await createGatewayWorld();
    given.account = await anAccount(given.world.db);
  });
  afterAll(() => given.world.close());
  beforeEach(async () => {
    await given.world.db.query('delete from agent_inbox');
    given.agent = await RawAgent.enrol(given.world, given.account);
    if (exchanged) await given.agent.exchange();
  });
  return given;
}

interface AccountOptions {
  name?: string;
  registrationKey?: string | null;
  autoRegister?: boolean;
  maxPending?: number;
  maxBacklog?: number | null;
}

/** An account with its root access group. */
export async function anAccount(db: Database, options: AccountOptions = {}): Promise<{ id: number; name: string }> {
  const name = options.name ?? `account-${randomBytes(4).toString('hex')}`;
  const [account] = await db.query<{ id: number }>(
    `insert into account (name, title, registration_key, auto_register, max_pending_computers, max_message_backlog)
     values ($1, $1, $2, $3, $4, $5) returning id`,
    [
      name,
      options.registrationKey ?? null,
      options.autoRegister ?? true,
      options.maxPending ?? 1000,
      options.maxBacklog ?? null,
    ],
  );
  await db.query(`insert into access_group (account_id, name, title) values ($1, 'global', 'Global')`, [account!.id]);
  return { id: account!.id, name };
}

/** Inserts an operation as the engine does: rows of its activity, message and payload. */
export async function anOperation(
  db: Database,
  computerId: number,
  options: {
    messageType?: string;
    fields?: Record<string, unknown>;
    state?: 'queued' | 'held';
    deliverAt?: Date;
    deliverBefore?: Date | null;
  } = {},
): Promise<number> {
  const [row] = await db.query<{ id: number }>(
    `with payload as (
       insert into operation_payload (account_id, message_type, fields)
       select account_id, $2, $3 from computer where id = $1 returning id, account_id
     ), operation as (
       insert into activity (account_id, lane_id, computer_id, payload_id, type, summary, status)
       select account_id, 7, $1, id, 'Test', 'test', 'undelivered' from payload returning id, payload_id
     )
     insert into agent_message (activity_id, lane_id, computer_id, payload_id, state, deliver_at, deliver_before)
     select id, 7, $1, payload_id, $4, $5, $6 from operation returning activity_id as id`,
    [
      computerId,
      options.messageType ?? 'install-snaps',
      JSON.stringify(options.fields ?? { snaps: [{ name: 'hello' }] }),
      options.state ?? 'queued',
      options.deliverAt ?? new Date(0),
      options.deliverBefore ?? null,
    ],
  );
  return row!.id;
}

/** Puts an operation into a batch of this size. @returns the id of the batch */
export async function aBatch(db: Database, operation: number, size: number): Promise<number> {
  const [row] = await db.query<{ id: number }>(
    `with batch as (
       insert into lane (account_id, wf_id, single, ordinal, size, open_count, summary)
       select account_id, 'activity/' || id, false, 0, $2, $2, 'test' from activity where id = $1 returning id
     ), message as (
       update agent_message set lane_id = batch.id from batch where activity_id = $1
     )
     update activity set lane_id = batch.id from batch where activity.id = $1 returning batch.id`,
    [operation, size],
  );
  return row!.id;
}

interface InboxRow {
  activity_id: number;
  kind: string;
  ok: boolean | null;
  code: number | null;
  body: string | null;
}

/** Pending events, oldest first. */
export async function inbox(db: Database): Promise<InboxRow[]> {
  return db.query<InboxRow & Record<string, unknown>>(
    'select activity_id, kind, ok, code, body from agent_inbox order by id',
  );
}

/** States of messages by operation. */
export async function messageStates(db: Database, ids: readonly number[]): Promise<string[]> {
  const rows = await db.query<{ activity_id: number; state: string }>(
    'select activity_id, state from agent_message where activity_id = any($1::int[])',
    [ids],
  );
  return ids.map((id) => rows.find((row) => row.activity_id === id)?.state ?? 'none');
}
