import jsonwebtoken from 'jsonwebtoken';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GROUP_PERMISSIONS, SEED_ROLES } from '../../../src/domain/identity/permissions.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { JWT_SECRET } from '../../support/http/app.ts';
import { bodyFields, type DocumentedOperation, OPERATIONS } from '../../support/http/sample-requests.ts';
import { createRightsWorld, MARK, NEVER, type RightsWorld } from '../../support/identity/rights-world.ts';
import { ACCOUNT_OBJECTS, NEEDS_LOGIN, RIGHTS_TABLE, SCOPED_OBJECTS } from './rights-table.ts';

let world: RightsWorld;

beforeAll(async () => {
  world = await createRightsWorld();
});

afterAll(async () => {
  await world?.close();
});

const LETTERS = { GlobalAdmin: 'G', Auditor: 'A', SupportAnalyst: 'S', ServerAdmin: 'D', DesktopAdmin: 'D' } as Record<
  string,
  string
>;
const permissionsOf = (role: (typeof SEED_ROLES)[number]): string[] => [...role.permissions, ...role.globalPermissions];
const isAllowed = (role: (typeof SEED_ROLES)[number], needs: readonly string[]) =>
  needs.every((permission) => permissionsOf(role).includes(permission));
const isScoped = (operation: DocumentedOperation) =>
  Array.isArray(operation.access) &&
  [...operation.pathParameters, ...operation.queryParameters, ...bodyFields(operation)].some((name) =>
    SCOPED_OBJECTS.includes(name),
  );
/** Tokens that were never good, or are not any more. */
async function uselessTokens({ tokenOf, call }: RightsWorld): Promise<Record<string, string>> {
  const good = await tokenOf('DesktopAdmin');
  const { iat: _, ...claims } = jsonwebtoken.decode(good) as Record<string, unknown>;
  const invalidate = OPERATIONS.find(({ title }) => title === 'POST /tokens/invalidate-me')!;
  // By `call`, which knows that tokens end with it.
  expect((await call('DesktopAdmin', invalidate, { objects: {} })).status).toBeLessThan(300);
  const expired = { ...claims, exp: Math.floor(Date.now() / 1000) - 60 };
  return {
    malformed: 'not.a.token',
    empty: ' ',
    unsigned: jsonwebtoken.sign(claims, '', { algorithm: 'none' }),
    'of another key': jsonwebtoken.sign(claims, 'another secret that is long enough too'),
    expired: jsonwebtoken.sign(expired, JWT_SECRET),
    revoked: good,
  };
}

/** A rejection apart from the number of the object it is about. */
const rejection = ({ status, text }: { status: number; text: string }) =>
  `${status} ${text.replace(/\d{2,}|\b\d\b/g, '#')}`;

describe('the matrix of rights', () => {
  it.each(OPERATIONS.map((o) => [o.title, o] as const))(
    '%s is decided, and declared as decided',
    (title, operation) => {
      const row = RIGHTS_TABLE.find(({ operations }) => operations.test(title));
      expect(row, 'needs a row in test/api/identity/rights-table.ts').toBeDefined();
      expect(operation.access).toEqual(row!.needs);
      if (!Array.isArray(row!.needs)) return;
      const needs = row!.needs;
      const letters = new Set(SEED_ROLES.filter((role) => isAllowed(role, needs)).map(({ name }) => LETTERS[name]));
      expect([...letters].join('')).toBe(row!.roles);
    },
  );

  const guarded = OPERATIONS.filter(({ access }) => access !== 'none');
  let useless: Record<string, string>;
  beforeAll(async () => {
    useless = await uselessTokens(world);
  });

  it.each(guarded.map((o) => [o.title, o] as const))('%s needs a token', async (_, operation) => {
    const before = await world.fingerprint();
    const response = await world.call(null, operation, { objects: world.objects });
    expect(response.body).toMatchObject({ error: 'Unauthorized', code: 401 });
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    for (const [kind, token] of Object.entries(useless)) {
      const rejected = await world.callWith(token, operation, { objects: world.objects });
      expect([rejected.status, rejected.text], kind).toEqual([401, response.text]);
      expect(rejected.headers.get('www-authenticate'), kind).toBe('Bearer');
    }
    expect(await world.fingerprint()).toBe(before);
  });

  const ofLogins = OPERATIONS.filter(({ method, title }) => method !== 'GET' && NEEDS_LOGIN.test(title));
  it('KEY-scope: are declared for logins alone where a token from an access key is not enough', () => {
    const declared = OPERATIONS.filter(({ needsLogin }) => needsLogin);
    expect(declared.map(({ title }) => title)).toEqual(ofLogins.map(({ title }) => title));
  });

  it.each(ofLogins.map((o) => [o.title, o] as const))('KEY-scope: %s needs a login', async (_, operation) => {
    const key = await world.keyToken();
    const before = await world.fingerprint();
    const response = await world.callWith(key, operation, { objects: world.objects });
    expect(response.body).toMatchObject({ error: 'Forbidden', code: 403 });
    expect(response.body.message).toContain('access key');
    expect(await world.fingerprint()).toBe(before);
  });

  const ofAccounts = guarded.filter(({ access }) => access !== 'token');
  describe('of a closed account', () => {
    let token: string;
    const close = (closed: boolean) =>
      world.db.query('update account set disabled = $2 where id = $1', [world.accountId, closed]);
    beforeAll(async () => {
      await world.fingerprint();
      token = await world.tokenOf('GlobalAdmin');
      await close(true);
    });
    afterAll(() => close(false));

    it.each(ofAccounts.map((o) => [o.title, o] as const))('%s is closed', async (_, operation) => {
      const before = await world.fingerprint();
      const response = await world.callWith(token, operation, { objects: world.objects });
      expect(response.body).toMatchObject({ error: 'AccountDisabled', code: 403 });
      expect(await world.fingerprint()).toBe(before);
    });
  });

  it.each(ofAccounts.map((o) => [o.title, o] as const))('%s needs an account', async (_, operation) => {
    const before = await world.fingerprint();
    const response = await world.call('homeless', operation, { objects: world.objects });
    expect(response.body).toMatchObject({ error: 'NoAccount', code: 403 });
    expect(await world.fingerprint()).toBe(before);
  });

  // Without `after` it is the event log, which needs a permission (test/api/events/event-feed.test.ts).
  const byRole = ofAccounts.filter(({ title }) => title !== 'GET /events');
  it.each(byRole.map((o) => [o.title, o] as const))(
    'ROLE-matrix: %s is open to its roles alone',
    async (_, operation) => {
      const needs = operation.access as string[] | 'account';
      const rejected =
        needs === 'account' ? [] : SEED_ROLES.filter((role) => !isAllowed(role, needs)).map((r) => r.name);
      const before = await world.fingerprint();
      for (const who of needs === 'account' ? [] : ['no permission', ...rejected]) {
        const response = await world.call(who, operation, { objects: world.objects });
        expect(response.body, who).toMatchObject({ error: 'Forbidden', code: 403 });
      }
      expect(await world.fingerprint()).toBe(before);
      for (const { name } of SEED_ROLES.filter((role) => !rejected.includes(role.name))) {
        const response = await world.call(name, operation, { objects: NEVER, empty: true });
        expect([401, 403, 500], `${name}: ${response.text}`).not.toContain(response.status);
      }
    },
  );
});

describe('an archived computer', () => {
  const FIELDS = ['computer_id', 'computer_ids'];
  const acting = OPERATIONS.filter(
    (o) => o.method !== 'GET' && [...o.pathParameters, ...bodyFields(o)].some((name) => FIELDS.includes(name)),
  );
  /** What may be done with one: archive it, and remove it. Pending ones are no archived ones. */
  const ALLOWED = ['POST /computers/{computer_id}/archive', 'POST /computers:delete'];
  it.each(acting.map((o) => [o.title, o] as const))('%s does not act on one', async (title, operation) => {
    const computer_title = `${MARK}-gone`;
    // Its own, as some are allowed to be rid of it.
    const archived = await insertComputer(world.db, {
      accountId: world.accountId,
      title: computer_title,
      archived: true,
    });
    const objects = {
      ...world.objects,
      computer_id: archived,
      computer_ids: [archived],
      computer_title,
    };
    const before = await world.fingerprint();
    const response = await world.call('GlobalAdmin', operation, { objects });
    if (ALLOWED.includes(title)) return expect(response.status, response.text).toBeLessThan(300);
    const isPending = title.startsWith('POST /pending-computers');
    expect(response.body).toMatchObject({ error: isPending ? 'UnknownComputer' : 'ComputerArchived' });
    expect(await world.fingerprint()).toBe(before);
  });
});

describe('another account', () => {
  const about = OPERATIONS.filter((o) =>
    Array.isArray(o.access) || o.access === 'account'
      ? [...o.pathParameters, ...o.queryParameters, ...bodyFields(o)].some((n) =>
          [...ACCOUNT_OBJECTS, ...SCOPED_OBJECTS].includes(n),
        )
      : false,
  );
  it.each(about.map((o) => [o.title, o] as const))(
    'JWT-otheraccount: %s responds as if nothing were there',
    async (_, operation) => {
      // First, for a read of a secret leaves an event.
      if (operation.method === 'GET') {
        expect((await world.call('GlobalAdmin', operation, { objects: world.objects })).status).toBe(200);
      }
      const before = await world.fingerprint();
      const foreign = await world.call('other account', operation, { objects: world.objects });
      const never = await world.call('other account', operation, { objects: { ...world.objects, ...NEVER } });
      expect(foreign.status).toBe(404);
      expect(rejection(foreign)).toBe(rejection(never));
      expect(await world.fingerprint()).toBe(before);
    },
  );

  const reads = OPERATIONS.filter(({ method, pathParameters }) => method === 'GET' && pathParameters.length === 0);
  it.each(reads.map((o) => [o.title, o] as const))('JWT-otheraccount: %s shows nothing of it', async (_, operation) => {
    const response = await world.call('other account', operation, { objects: {} });
    expect(response.status).toBeLessThan(500);
    expect(response.text).not.toContain(MARK);
  });
});

describe('access groups', () => {
  const scoped = OPERATIONS.filter(isScoped);
  it.each(scoped.map((o) => [o.title, o] as const))(
    '%s knows no object outside the groups of the role',
    async (_, operation) => {
      const before = await world.fingerprint();
      const outside = await world.call('outside', operation, { objects: world.objects });
      const never = await world.call('outside', operation, { objects: { ...world.objects, ...NEVER } });
      const needsMore = (operation.access as string[]).some(
        (p) => !(GROUP_PERMISSIONS as readonly string[]).includes(p),
      );
      expect(outside.status).toBe(needsMore ? 403 : 404);
      expect(rejection(outside)).toBe(rejection(never));
      expect(await world.fingerprint()).toBe(before);
    },
  );

  const auditor = SEED_ROLES.find(({ name }) => name === 'Auditor')!;
  // Pending computers are seen by those alone who decide about them.
  const acting = scoped.filter(
    ({ access }) => !isAllowed(auditor, access as string[]) && String(access) !== 'ManagePendingComputer',
  );
  it.each(acting.map((o) => [o.title, o] as const))(
    'ROLE-matrix: %s is forbidden where only viewing is allowed',
    async (_, operation) => {
      const before = await world.fingerprint();
      const response = await world.call('viewer outside', operation, { objects: world.objects });
      expect(response.body).toMatchObject({ error: 'Forbidden', code: 403 });
      expect(await world.fingerprint()).toBe(before);
    },
  );

  /** Not paginated, or about computers that are named. Their own tests hold them to the groups. */
  const others = [
    'GET /computers/activities',
    'GET /computers/map',
    'GET /alerts',
    'GET /alerts/summary',
    'GET /script-profile-limits',
    'GET /usg-profiles/blob',
    'GET /usg-profiles/compliance',
  ];
  const lists = OPERATIONS.filter(
    ({ method, title, access, pathParameters }) =>
      method === 'GET' &&
      !others.includes(title) &&
      pathParameters.length === 0 &&
      (GROUP_PERMISSIONS as readonly string[]).includes(String(access)),
  );
  it.each(lists.map((o) => [o.title, o] as const))('%s lists and counts nothing outside them', async (_, operation) => {
    const response = await world.call('outside', operation, { objects: {} });
    expect(response.body).toMatchObject({ count: 0, results: [], next: null });
    const seer = isAllowed(auditor, operation.access as string[]) ? 'Auditor' : 'GlobalAdmin';
    const seen = await world.call(seer, operation, { objects: {} });
    expect(seen.body.count).toBeGreaterThan(0);
  });
});
