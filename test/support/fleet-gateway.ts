import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { loadConfig } from '../../src/config.ts';
import { createFleet, type Fleet, type FleetOptions } from '../../src/fleet/fleet.ts';
import { createGateway, type Gateway } from '../../src/gateway/gateway.ts';
import { createLogger } from '../../src/logger.ts';
import { systemClock } from '../../src/services/ports.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

export const QUIET = createLogger({ level: 'error', role: 'test' });

/** A real gateway on a database of its own, on a free port. */
export interface TestGateway {
  database: TestDatabase;
  url: string;
  /** A fleet that is quick and made for this gateway; the caller stops it. */
  fleet(options?: Partial<FleetOptions>): Fleet;
  close(): Promise<void>;
}

/** Times that let a test end soon. */
export const QUICK = { pingMs: 300, urgentMs: 100, operationMs: 50, rebootMs: 200, retryMs: 100, rampMs: 50 };

export async function startGateway(): Promise<TestGateway> {
  const database = await createTestDatabase();
  const gateway = createGateway({
    persistence: database.persistence,
    config: loadConfig({}, 'stack'),
    logger: QUIET,
    clock: systemClock,
  });
  const server = await listen(gateway);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    database,
    url,
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
