import { afterAll, beforeAll } from 'vitest';
import { insertComputer } from '../computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { createAdmin, createTestApp } from './app.ts';
import { GuardedServer } from './resource-guard.ts';

/** A server that is measured, with an administrator and enough computers that a page without a bound would be seen. */
export interface GuardedWorld {
  database: TestDatabase;
  server: GuardedServer;
  token: string;
  computerId: number;
  /** One request, with the administrator's token unless `headers` say otherwise. */
  call: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<{ status: number; text: string }>;
  close(): Promise<void>;
}

/** @param limits - of the listener, where a test cannot wait for the real ones */
async function createGuardedWorld(limits: Parameters<typeof GuardedServer.start>[2] = {}): Promise<GuardedWorld> {
  const database = await createTestDatabase();
  const { accountId } = await createAdmin(database.persistence);
  const computerId = await insertComputer(database.persistence.db, { accountId, title: 'web' });
  await fillFleet(database, accountId);
  const app = await createTestApp(database.persistence);
  const token = await app.login();
  await app.close();
  const server = await GuardedServer.start(database.url, token, limits);
  const call: GuardedWorld['call'] = async (method, path, body, headers = {}) => {
    const raw = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const url = `${server.url}${path.startsWith('/api') || path.startsWith('/m') ? '' : '/api/v2'}${path}`;
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: raw as RequestInit['body'] }),
    });
    return { status: response.status, text: await response.text() };
  };
  const close = async (): Promise<void> => {
    await server.stop();
    await database.drop();
  };
  return { database, server, token, computerId, call, close };
}

/** One for all tests of a file, from their beginning to their end; nothing of it is there before. */
export function useGuardedWorld(limits?: Parameters<typeof createGuardedWorld>[0]): Omit<GuardedWorld, 'close'> {
  let world: GuardedWorld;
  beforeAll(async () => {
    world = await createGuardedWorld(limits);
  });
  afterAll(() => world?.close());
  return {
    get database() {
      return world.database;
    },
    get server() {
      return world.server;
    },
    get token() {
      return world.token;
    },
    get computerId() {
      return world.computerId;
    },
    call: (...request) => world.call(...request),
  };
}

async function fillFleet(database: TestDatabase, accountId: number): Promise<void> {
  await database.persistence.db.query(
    `insert into computer (account_id, access_group_id, state, title, hostname, tags, registered_at)
     select $1, (select id from access_group where account_id = $1 and name = 'global'), 'approved',
       'many-' || n, 'many-' || n || '.example.com', array['many'], now() from generate_series(1, 3000) n`,
    [accountId],
  );
  await database.persistence.db.query('analyze');
}

/** Does something several times, one after another. @throws unless all are answered with one of the statuses */
export async function times(
  count: number,
  statuses: readonly number[],
  once: () => Promise<{ status: number }>,
): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { status } = await once();
    if (!statuses.includes(status)) throw new Error(`answered ${status} and not ${statuses.join(' or ')}`);
  }
}
