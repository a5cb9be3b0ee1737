import { randomBytes } from 'node:crypto';
import { createGateway } from '../../../src/gateway/http/gateway.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { openPersistence } from '../../../src/persistence/orm/orm.ts';
import { loadConfig } from '../../../src/process/config.ts';
import { systemClock } from '../../../src/services/common/ports.ts';
import { createEngine } from '../../../src/services/engine/engine.ts';
import { testLogger } from '../../../tools/harness/test-log.ts';
import { createTestDatabase } from '../database/database.ts';
import { createAdmin, createTestApp, type TestApp } from '../http/app.ts';
import { RawAgent } from './raw-agent.ts';

/** The API and the gateway in one application on a database; the test itself does what workers do. */
export interface ServedFleet {
  readonly app: TestApp;
  readonly url: string;
  readonly token: string;
  db: Database;
  accountId: number;
  adminId: number;
  /** Enrols scripted agents, ready to be given operations. */
  enrol(count: number): Promise<RawAgent[]>;
  /** Orders one snap installation per computer; returns the group. */
  install(agents: readonly RawAgent[], snap?: string): Promise<number>;
  /** Settles all pending events of open batches, as workers do. */
  settle(): Promise<void>;
  /** Ends everything that keeps state in memory and starts it anew; tokens and agents stay good. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function createServedFleet(): Promise<ServedFleet> {
  const database = await createTestDatabase();
  const { db } = database.persistence;
  const { accountId, personId } = await createAdmin(database.persistence);
  let server = await serve(database.url);
  const token = await server.app.login();
  const fleet: ServedFleet = {
    get app() {
      return server.app;
    },
    get url() {
      return server.app.url;
    },
    token,
    db,
    accountId,
    adminId: personId,
    async enrol(count) {
      const agents = await Promise.all(
        Array.from({ length: count }, () => RawAgent.enrol(fleet, { name: 'standalone' })),
      );
      for (const agent of agents) await agent.exchange();
      return agents;
    },
    async install(agents, snap = 'hello') {
      const body = { action: 'install', computer_ids: agents.map(({ id }) => id), snaps: [{ name: snap }] };
      const response = await server.app.call('POST', '/snaps', { token, body });
      if (response.status !== 200) throw new Error(`POST /snaps: ${response.status} ${response.text}`);
      return response.body.id;
    },
    async settle() {
      const lanes = await db.query<{ id: number }>('select id from lane where open_count > 0 order by id');
      for (const { id } of lanes) await server.engine.processPendingEvents(id, false);
    },
    async restart() {
      await server.close();
      server = await serve(database.url);
    },
    async close() {
      await server.close();
      await database.drop();
    },
  };
  return fleet;
}

async function serve(url: string) {
  const persistence = await openPersistence({ url, poolSize: 10, applicationName: 'served-fleet' });
  const gateway = createGateway({
    persistence,
    config: loadConfig({ FLOTILLA_ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}` }, 'stack'),
    logger: testLogger(),
    clock: systemClock,
  });
  const app = await createTestApp(persistence, { gateway: gateway.router });
  return {
    app,
    engine: createEngine({ db: persistence.db, clock: systemClock, settings: { expiryDays: 30 } }),
    async close() {
      await app.close();
      await gateway.close();
      await persistence.close();
    },
  };
}
