import { SEED_ROLES } from '../../../src/domain/identity/permissions.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import type { Config } from '../../../src/process/config.ts';
import { createAccount, createGroup, createMember } from '../../../tools/harness/accounts.ts';
import { insertComputer, insertPackage, reportKernels, reportPackages } from '../computers/computers.ts';
import { createTestDatabase, fingerprint } from '../database/database.ts';
import { ADMIN, type ApiResponse, createAdmin, createTestApp, TEST_KEYS, type TestApp } from '../http/app.ts';
import { type DocumentedOperation, type Samples, sampleBody, samplePath } from '../http/sample-requests.ts';

/** In the names of all objects of the account under test, or of the other account, and in nothing else. */
export const MARK = 'marked';
export const OTHER_MARK = 'foreign';

/** Objects that never were. */
export const NEVER: Samples = {
  computer_id: 2_000_000_000,
  activity_id: 2_000_000_000,
  alert_id: 2_000_000_000,
  invitation_id: 2_000_000_000,
  person_id: 2_000_000_000,
  role_name: 'never-was',
  access_group_name: 'never-was',
  saved_search_name: 'never-was',
  webhook_id: 2_000_000_000,
  delivery_ids: [2_000_000_000],
  url: 'https://receiver.example/',
  account_name: 'never-was',
  secure_id: 'x'.repeat(30),
  usg_profile_id: 2_000_000_000,
  script_id: 2_000_000_000,
  script_profile_id: 2_000_000_000,
  script_version_id: 2_000_000_000,
  script_attachment_id: 2_000_000_000,
  start_date: '2026-01-01',
  path: 'never-was',
  access_key: 'A'.repeat(20),
  computer_ids: [2_000_000_000],
  activity_ids: [2_000_000_000],
  package_ids: [2_000_000_000],
};

/** Whether tokens may be over after an operation succeeded. */
export function mayEndTokens({ method, path }: DocumentedOperation): boolean {
  return method !== 'GET' && /token|logout|password|person|account|administrators|roles/.test(path);
}

type Who = 'homeless' | 'other account' | 'no permission' | 'outside' | 'viewer outside' | string;

interface About {
  objects: Samples;
  empty?: boolean;
}

export interface RightsWorld {
  app: TestApp;
  db: Database;
  accountId: number;
  otherAccountId: number;
  /** The account's objects; those with an access group are in `servers`. */
  objects: Samples;
  /** The like of the other account. */
  otherObjects: Samples;
  /** A valid token of the administrator's access key. */
  keyToken(): Promise<string>;
  /** A valid token, kept until a call may have ended it. */
  tokenOf(who: Who): Promise<string>;
  /** Calls an operation about some objects, with a body about them or, when `empty`, with `{}`. */
  call(who: Who | null, operation: DocumentedOperation, about: About): Promise<ApiResponse>;
  /** The same with a token as it is. */
  callWith(token: string | null, operation: DocumentedOperation, about: About): Promise<ApiResponse>;
  /** Digest of every table that requests may change; logins and throttles aside. */
  fingerprint(accountId?: number): Promise<string>;
  close(): Promise<void>;
}

/**
 * Two accounts with one of everything each, and somebody of every kind that the matrix distinguishes.
 *
 * @param settings - of the application
 */
export async function createRightsWorld(settings: Partial<Config> = {}): Promise<RightsWorld> {
  const database = await createTestDatabase();
  const plain = database.persistence.db;
  const { accountId } = await createAdmin(database.persistence);
  const server = await createTestApp(database.persistence, {
    settings: { smtpUrl: null, encryptionKeys: TEST_KEYS, ...settings },
  });
  let digest: string | null = null;
  /** Whoever uses it may change what is stored. */
  const changing = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(_, name) {
        digest = null;
        return Reflect.get(target, name);
      },
    });
  const db = changing(plain);
  const app = changing(server);
  const people = await createPeople(db, accountId);
  const objects = await createObjects(app, db, { accountId, admin: ADMIN, mark: MARK });
  const other = await createAccount(db, 'other');
  const otherObjects = await createObjects(app, db, { accountId: other.accountId, admin: other, mark: OTHER_MARK });
  people.set('other account', other);
  const keyToken = async () => {
    const { access_key, secret_key } = objects;
    return (await app.call('POST', '/login/access-key', { body: { access_key, secret_key } })).body.token;
  };
  const tokens = new Map<Who, string>();
  const tokenOf = async (who: Who) => {
    const token = tokens.get(who) ?? (await app.login(people.get(who)!));
    tokens.set(who, token);
    return token;
  };
  for (const who of people.keys()) await tokenOf(who);
  const callWith = (token: string | null, operation: DocumentedOperation, about: About) => {
    const body = about.empty && operation.body ? {} : sampleBody(operation, about.objects);
    return app.call(operation.method, samplePath(operation, about.objects), { token, body });
  };
  return {
    app,
    db,
    accountId,
    otherAccountId: other.accountId,
    objects,
    otherObjects,
    keyToken,
    tokenOf,
    callWith,
    async call(who, operation, about) {
      const response = await callWith(who === null ? null : await tokenOf(who), operation, about);
      if (response.status < 300 && mayEndTokens(operation)) tokens.clear();
      return response;
    },
    async fingerprint(of) {
      // Logins leave events: they happen before the rows are looked at, not between.
      for (const who of people.keys()) await tokenOf(who);
      if (of !== undefined) return fingerprint(plain, of);
      digest ??= await fingerprint(plain);
      return digest;
    },
    async close() {
      await app.close();
      await database.drop();
    },
  };
}

async function createPeople(db: Database, accountId: number) {
  await createGroup(db, accountId, 'desktops');
  const people = new Map<Who, { email: string; password: string }>();
  const add = async (who: Who, role: string, groups?: string[]) => {
    const email = `${who.replaceAll(' ', '-').toLowerCase()}@${MARK}.example`;
    const made = await createMember(db, { accountId, email, role, ...(groups ? { groups } : {}) });
    people.set(who, made);
    return made;
  };
  for (const { name } of SEED_ROLES) await add(name, name);
  await db.query(
    `insert into role (account_id, name, permissions, global_permissions) values ($1, 'Nothing', '{}', '{}')`,
    [accountId],
  );
  await add('no permission', 'Nothing');
  await add('outside', 'ServerAdmin', ['desktops']);
  const viewer = await add('viewer outside', 'ServerAdmin', ['desktops']);
  await db.query(`insert into membership_role select $1, $2, id from role where account_id = $1 and name = 'Auditor'`, [
    accountId,
    viewer.personId,
  ]);
  const homeless = await add('homeless', 'Nothing');
  await db.query('delete from membership where person_id = $1', [homeless.personId]);
  return people;
}

interface Owner {
  accountId: number;
  admin: { email: string; password: string };
  /** In the name of every object made. */
  mark: string;
}

async function createObjects(app: TestApp, db: Database, { accountId, admin, mark }: Owner): Promise<Samples> {
  const token = await app.login(admin);
  const create = async (path: string, body: object) => (await app.call('POST', path, { token, body })).body;
  await createGroup(db, accountId, 'servers');
  const computer = await insertComputer(db, { accountId, title: `${mark}-computer`, group: 'servers', tags: [mark] });
  const pending = await insertComputer(db, { accountId, title: `${mark}-pending`, group: 'servers', state: 'pending' });
  await insertComputer(db, { accountId, title: `${mark}-gone`, group: 'servers', archived: true });
  const kernels = await reportKernels(db, computer);
  const installed = await insertPackage(db, `${mark}-package`, '1');
  await reportPackages(db, computer, { installed: [installed, kernels.now], available: [kernels.next] });
  const victim = await createMember(db, { accountId, email: `victim@${mark}.example`, role: 'Auditor' });
  const role = await create('/roles', { name: `${mark}-role` });
  const group = await create('/access-groups', { title: `${mark}-group` });
  const invitation = await create('/invitations', { name: `${mark}-guest`, email: `guest@${mark}.example` });
  const key = await create('/credentials', {
    account: (await app.call('GET', '/me', { token })).body.current_account,
    password: admin.password,
    name: `${mark}-key`,
  });
  const search = await create('/saved-searches', { name: `${mark}-search`, search: 'web' });
  const { webhook } = await create('/webhooks', { url: `https://${mark}.example/` });
  const delivery = await create(`/webhooks/${webhook.id}:test`, {});
  const action = { computer_ids: [computer], action: 'install', snaps: [{ name: 'hello' }] };
  const activity = await create('/snaps', action);
  const alerts = await app.call('GET', '/alerts', { token });
  const profile = await create('/usg-profiles', {
    title: `${mark}-profile`,
    benchmark: 'disa_stig',
    mode: 'audit',
    schedule: 'FREQ=WEEKLY',
    start_date: '2090-01-01',
    access_group: 'servers',
    tailoring_file: `<Tailoring id="${mark}"/>`,
  });
  return {
    ...(await createScripts(create, mark)),
    import_id: await importFacts(db, accountId, computer, mark),
    usg_profile_id: profile.id,
    start_date: '2026-01-01',
    path: profile.tailoring_file_uri,
    computer_id: computer,
    pending_id: pending,
    activity_id: activity.id,
    alert_id: alerts.body[0].id,
    invitation_id: invitation.id,
    person_id: victim.personId,
    role_name: role.name,
    saved_search_name: search.name,
    webhook_id: webhook.id,
    delivery_ids: [delivery.id],
    url: 'https://receiver.example/',
    access_group_name: group.name,
    account_name: 'never-was',
    access_key: key.access_key,
    secret_key: key.secret_key,
    secure_id: invitation.secure_id,
    computer_ids: [computer],
    activity_ids: [activity.id],
    package_ids: [installed],
    roles: ['Auditor'],
    email: 'sample@fleet.example',
    pids: [1],
    kernel_package_id: kernels.next,
  };
}

/** What no agent reports, from a file: licence, contract, membership of other profiles, and an annotation. */
async function importFacts(db: Database, account: number, computer: number, mark: string): Promise<number> {
  const [license] = await db.query<{ id: number }>(
    'insert into legacy_license (account_id, title) values ($1, $2) returning id',
    [account, `${mark}-license`],
  );
  const types = ['repository', 'package', 'upgrade', 'reboot', 'removal', 'wsl'];
  const ofProfiles = [account, types, license!.id];
  await db.query(
    `insert into profile (account_id, type, id, name, title) select $1, t, $3, $4, $4 from unnest($2::text[]) t`,
    [...ofProfiles, `${mark}-imported`],
  );
  await db.query(
    `insert into computer_profile (account_id, type, profile_id, computer_id) select $1, t, $3, $4 from unnest($2::text[]) t`,
    [...ofProfiles, computer],
  );
  await db.query('insert into computer_license values ($1, $2)', [computer, license!.id]);
  await db.query('insert into contract (account_id, id) values ($1, $2)', [account, `${mark}-contract`]);
  await db.query('insert into computer_contract values ($1, $2, $3)', [account, computer, `${mark}-contract`]);
  await db.query(`update computer set annotations = jsonb_build_object($2::text, $3::text) where id = $1`, [
    computer,
    `${mark}-key`,
    `${mark}-value`,
  ]);
  return license!.id;
}

async function createScripts(create: (path: string, body: object) => Promise<ApiResponse['body']>, mark: string) {
  const code = '#!/bin/sh\ntrue\n';
  const script = await create('/scripts', {
    title: `${mark}-script`,
    code,
    access_group: 'servers',
    attachments: [{ filename: `${mark}.txt`, content: '' }],
  });
  const trigger = { trigger_type: 'one_time', timestamp: '2090-01-01T00:00:00Z' };
  const profile = await create('/script-profiles', {
    title: `${mark}-script-profile`,
    script_id: script.id,
    all_computers: true,
    tags: [],
    time_limit: 60,
    username: 'root',
    trigger,
  });
  return {
    script_profile_id: profile.id,
    trigger,
    script_id: script.id,
    script_version_id: 1,
    script_attachment_id: script.attachments[0].id,
    code,
  };
}
