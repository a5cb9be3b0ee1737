import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachOperation, loadDocument } from '../../../src/api/openapi/document.ts';
import { listen } from '../../../src/api/app/server.ts';
import { openPersistence, type Persistence } from '../../../src/persistence/orm/orm.ts';
import { createAccount } from '../../../tools/harness/accounts.ts';
import { ADMIN, createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { createRightsWorld, type RightsWorld } from '../../support/identity/rights-world.ts';
import { type DocumentedOperation, OPERATIONS, sampleBody, samplePath } from '../../support/http/sample-requests.ts';
import { createTcpProxy } from '../../../tools/harness/tcp-proxy.ts';

/** Error responses that are documented for every operation of a kind and that this file does not provoke one by one. */
const PROVOKED_ELSEWHERE: Readonly<Record<string, string>> = {
  '408 InvalidParameter': 'takes the minute that a request may take to arrive',
};

const bodyLimits = new Map(
  eachOperation(loadDocument()).map(({ operation }) => [
    operation.operationId,
    operation['x-body-limit'] ?? 2 * 1024 * 1024,
  ]),
);

let world: RightsWorld;
let admin: string;
let key: string;
let spare: TestDatabase;
let saas: TestApp;
let saasAdmin: string;
let disabled: string;
let limited: TestApp;
let proxy: Awaited<ReturnType<typeof createTcpProxy>>;
let cutOff: Persistence;
let withoutDatabase: TestApp;
let broken: { database: TestDatabase; app: TestApp; token: string };
let served: { url: string; close(): Promise<void> };

beforeAll(async () => {
  world = await createRightsWorld();
  admin = await world.app.login(ADMIN);
  key = await world.keyToken();
  spare = await createTestDatabase();
  await createAdmin(spare.persistence);
  saas = await createTestApp(spare.persistence, { deployment: 'saas' });
  saasAdmin = await saas.login();
  disabled = await saas.login(await createAccount(spare.persistence.db, 'disabled'));
  await spare.persistence.db.query(`update account set disabled = true where name = 'disabled'`);
  limited = await spendRate();
  await cutOffDatabase();
  broken = await breakDatabase();
  const server = await listen(world.app.listener, { host: '127.0.0.1', port: 0 });
  served = { url: `http://127.0.0.1:${server.port}`, close: () => server.close() };
});

afterAll(async () => {
  await served?.close();
  await withoutDatabase?.close();
  await limited?.close();
  await saas?.close();
  await broken?.app.close();
  await cutOff?.close();
  await broken?.database.drop();
  await spare?.drop();
  await world?.close();
});

/** An application that takes no more from this address. */
async function spendRate(): Promise<TestApp> {
  const traffic = { api: { perSecond: 0.0001, burst: 1 }, enrolment: null, maxWaiting: 10 };
  const app = await createTestApp(spare.persistence, { settings: { traffic } });
  await app.call('GET', '/computers');
  return app;
}

async function cutOffDatabase(): Promise<void> {
  const url = new URL(spare.url);
  proxy = await createTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.host = `127.0.0.1:${proxy.port}`;
  cutOff = await openPersistence({ url: url.href, poolSize: 3, applicationName: 'cut-off' });
  withoutDatabase = await createTestApp(cutOff);
  await proxy.cut();
}

/** A database in which nothing is where it was. */
async function breakDatabase() {
  const database = await createTestDatabase();
  await createAdmin(database.persistence);
  const app = await createTestApp(database.persistence);
  const token = await app.login();
  await app.close();
  await database.persistence.db.query('alter schema public rename to elsewhere');
  return { database, app: await createTestApp(database.persistence), token };
}

/** The ids of invitations in addresses are other ones than those in logins. */
const BODIES: Readonly<Record<string, unknown>> = {
  login: { email: ADMIN.email, password: ADMIN.password },
  // What is no password of anybody's is rejected before anything stored is looked at.
  createStandaloneAccount: ADMIN,
};

const FROM_ANOTHER_SITE = { cookie: '__Host-flotilla_session=any', 'sec-fetch-site': 'cross-site' };

/** Rejections by `<status> <code>`. */
type Seen = Set<string>;

async function provoke(operation: DocumentedOperation): Promise<Seen> {
  const seen: Seen = new Set();
  const note = ({ status, body }: { status: number; body?: { error?: string } }) =>
    void (status >= 400 && seen.add(`${status} ${body?.error}`));
  const path = samplePath(operation, world.objects);
  const body = BODIES[operation.id] ?? sampleBody(operation, world.objects);
  const { method } = operation;
  const guarded = operation.access !== 'none';
  if (guarded) {
    note(await world.call(null, operation, { objects: world.objects }));
    note(await saas.call(method, path, { token: disabled, body }));
    note(await saas.call(method, path, { headers: FROM_ANOTHER_SITE, body }));
    note(await saas.call(method, path, { token: saasAdmin, body }));
    if (operation.needsLogin) note(await world.app.call(method, path, { token: key, body }));
    if (operation.access !== 'token') note(await world.call('homeless', operation, { objects: world.objects }));
    if (Array.isArray(operation.access)) note(await world.call('no permission', operation, { objects: world.objects }));
  }
  for (const odd of oddPaths(operation)) note(await world.app.call(method, odd, { token: admin, body }));
  const oddValues = operation.allQueryParameters.slice(0, 1).flatMap((name) => [`${name}=%00`, `${name}=1&${name}=2`]);
  for (const odd of ['nowhere=1', ...oddValues]) {
    note(await world.app.call(method, `${path}${path.includes('?') ? '&' : '?'}${odd}`, { token: admin, body }));
  }
  if (operation.body) note(await world.app.call(method, path, { token: admin, raw: '[]' }));
  if (method !== 'GET') {
    const raw = '{';
    note(await world.app.call(method, path, { token: admin, raw }));
    const headers = { 'content-type': 'text/plain', 'content-encoding': 'unknown' };
    note(await world.app.call(method, path, { token: admin, raw, headers }));
    note(await world.app.call(method, path, { token: admin, raw: tooLarge(operation) }));
  }
  note(await limited.call(method, path, { body }));
  note(await withoutDatabase.call(method, path, { token: guarded ? saasAdmin : null, body }));
  note(await broken.app.call(method, path, { token: guarded ? broken.token : null, body }));
  note(await tooLong(method, path));
  return seen;
}

/** Addresses that only look like the operation's: one with a value that no parameter of its place can have. */
function oddPaths({ path, pathParameters }: DocumentedOperation): string[] {
  return pathParameters.flatMap((odd) => {
    const at = (value: string) =>
      path.replace(/\{(\w+)\}/g, (_, name: string) => (name === odd ? value : String(world.objects[name] ?? 1)));
    return odd.endsWith('_id') && odd !== 'secure_id' ? [at('1:x'), at('none')] : [at('%E0%A4%A')];
  });
}

/** A body of one byte more than the operation takes. */
function tooLarge({ id }: DocumentedOperation): Buffer {
  return Buffer.alloc(bodyLimits.get(id)! + 1, ' ');
}

async function tooLong(method: string, path: string) {
  const response = await fetch(`${served.url}/api/v2${path}`, { method, headers: { 'x-pad': 'x'.repeat(40_000) } });
  return { status: response.status, body: (await response.json()) as { error: string } };
}

describe('the statuses of the document', () => {
  it.each(OPERATIONS.map((o) => [o.title, o] as const))(
    '%s returns each that it lists',
    { timeout: 120_000 },
    async (_, operation) => {
      const seen = await provoke(operation);
      const own = new Set(operation.ownErrors);
      const expected = operation.errors.filter(
        (rejection) => !own.has(rejection) && !(rejection in PROVOKED_ELSEWHERE),
      );
      expect(expected.filter((rejection) => !seen.has(rejection))).toEqual([]);
      expect([...seen].filter((rejection) => !operation.errors.includes(rejection))).toEqual([]);
    },
  );
});
