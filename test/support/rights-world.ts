import { SEED_ROLES } from '../../src/domain/permissions.ts';
import type { Database } from '../../src/persistence/sql.ts';
import { createAccount, createGroup, createMember } from './accounts.ts';
import { ADMIN, type Answer, createAdmin, createTestApp, type TestApp } from './app.ts';
import { insertComputer } from './computers.ts';
import { createTestDatabase } from './database.ts';
import { insertPackage, reportPackages } from './packages.ts';
import { type DocumentedOperation, type Samples, sampleBody, samplePath } from './sample-requests.ts';

/** In the name of every object of the account under test, and in nothing else. */
export const MARK = 'marked';

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
  account_name: 'never-was',
  secure_id: 'x'.repeat(30),
  usg_profile_id: 2_000_000_000,
  script_id: 2_000_000_000,
  script_profile_id: 2_000_000_000,
  script_version_id: 2_000_000_000,
  script_attachment_id: 2_000_000_000,
  start_date: '2026-01-01',
  path: 'never-was',
  computer_ids: [2_000_000_000],
  activity_ids: [2_000_000_000],
};

/** Path parameters and body fields that name objects of an account. */
export const ACCOUNT_OBJECTS = [
  'computer_id',
  'activity_id',
  'alert_id',
  'invitation_id',
  'person_id',
  'role_name',
  'access_group_name',
  'saved_search_name',
  'usg_profile_id',
  'script_id',
  'path',
  'script_profile_id',
];
/** Those of them that are seen through access groups, and the body fields that do. */
export const SCOPED_OBJECTS = [
  'computer_id',
  'activity_id',
  'usg_profile_id',
  'script_id',
  'path',
  'script_profile_id',
  'computer_ids',
  'activity_ids',
];

export type Who = 'homeless' | 'other account' | 'no permission' | 'outside' | 'viewer outside' | string;

export interface RightsWorld {
  app: TestApp;
  db: Database;
  accountId: number;
  otherAccountId: number;
  /** The account's objects; those with an access group are in `servers`. */
  objects: Samples;
  /** Calls an operation about some objects, with a body about them or, when `empty`, with `{}`. */
  call(who: Who | null, operation: DocumentedOperation, about: { objects: Samples; empty?: boolean }): Promise<Answer>;
  /** Digest of every table that requests may change; logins and throttles aside. */
  fingerprint(accountId?: number): Promise<string>;
  close(): Promise<void>;
}

/** Two accounts, one of everything, and somebody of every kind that the matrix tells apart. */
export async function createRightsWorld(): Promise<RightsWorld> {
  const database = await createTestDatabase();
  const { db } = database.persistence;
  const { accountId } = await createAdmin(database.persistence);
  await createGroup(db, accountId, 'servers');
  await createGroup(db, accountId, 'desktops');
  const app = await createTestApp(database.persistence, { settings: { smtpUrl: null } });
  const people = await createPeople(db, accountId);
  const objects = await createObjects(app, db, accountId);
  const other = await createAccount(db, 'other');
  people.set('other account', other);
  const tokens = new Map<Who, string>();
  const tokenOf = async (who: Who) => {
    const token = tokens.get(who) ?? (await app.login(people.get(who)!));
    tokens.set(who, token);
    return token;
  };
  for (const who of people.keys()) await tokenOf(who);
  return {
    app,
    db,
    accountId,
    otherAccountId: other.accountId,
    objects,
    async call(who, operation, about) {
      const token = who === null ? null : await tokenOf(who);
      const body = about.empty && operation.body ? {} : sampleBody(operation, about.objects);
      const answer = await app.call(operation.method, samplePath(operation, about.objects), { token, body });
      // What succeeds may have ended tokens.
      if (operation.method !== 'GET' && answer.status < 300) tokens.clear();
      return answer;
    },
    async fingerprint(of) {
      // Logins leave events: they happen before the rows are looked at, not between.
      for (const who of people.keys()) await tokenOf(who);
      return fingerprint(db, of);
    },
    async close() {
      await app.close();
      await database.drop();
    },
  };
}

async function createPeople(db: Database, accountId: number) {
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

async function createObjects(app: TestApp, db: Database, accountId: number): Promise<Samples> {
  const token = await app.login(ADMIN);
  const computer = await insertComputer(db, { accountId, title: `${MARK}-computer`, group: 'servers', tags: [MARK] });
  await insertComputer(db, { accountId, title: `${MARK}-pending`, group: 'servers', state: 'pending' });
  await reportPackages(db, computer, { installed: [await insertPackage(db, `${MARK}-package`, '1')] });
  const role = await app.call('POST', '/roles', { token, body: { name: `${MARK}-role` } });
  const victim = await createMember(db, { accountId, email: `victim@${MARK}.example`, role: 'Auditor' });
  const group = await app.call('POST', '/access-groups', { token, body: { title: `${MARK}-group` } });
  const guest = { name: `${MARK}-guest`, email: `guest@${MARK}.example` };
  const invitation = await app.call('POST', '/invitations', { token, body: guest });
  const search = await app.call('POST', '/saved-searches', { token, body: { name: `${MARK}-search`, search: 'web' } });
  const action = { computer_ids: [computer], action: 'install', snaps: [{ name: 'hello' }] };
  const activity = await app.call('POST', '/snaps', { token, body: action });
  const alerts = await app.call('GET', '/alerts', { token });
  const profile = await app.call('POST', '/usg-profiles', {
    token,
    body: {
      title: `${MARK}-profile`,
      benchmark: 'disa_stig',
      mode: 'audit',
      schedule: 'FREQ=WEEKLY',
      start_date: '2090-01-01',
      access_group: 'servers',
      tailoring_file: `<Tailoring id="${MARK}"/>`,
    },
  });
  const script = await app.call('POST', '/scripts', {
    token,
    body: {
      title: `${MARK}-script`,
      code: '#!/bin/sh\ntrue\n',
      access_group: 'servers',
      attachments: [{ filename: `${MARK}.txt`, content: '' }],
    },
  });
  const trigger = { trigger_type: 'one_time', timestamp: '2090-01-01T00:00:00Z' };
  const scriptProfile = await app.call('POST', '/script-profiles', {
    token,
    body: {
      title: `${MARK}-script-profile`,
      script_id: script.body.id,
      all_computers: true,
      tags: [],
      time_limit: 60,
      username: 'root',
      trigger,
    },
  });
  return {
    script_profile_id: scriptProfile.body.id,
    trigger,
    usg_profile_id: profile.body.id,
    script_id: script.body.id,
    script_version_id: 1,
    script_attachment_id: script.body.attachments[0].id,
    code: '#!/bin/sh\ntrue\n',
    start_date: '2026-01-01',
    path: profile.body.tailoring_file_uri,
    computer_id: computer,
    activity_id: activity.body.id,
    alert_id: alerts.body[0].id,
    invitation_id: invitation.body.id,
    person_id: victim.personId,
    role_name: role.body.name,
    saved_search_name: search.body.name,
    access_group_name: group.body.name,
    account_name: 'never-was',
    secure_id: invitation.body.secure_id,
    computer_ids: [computer],
    activity_ids: [activity.body.id],
    roles: ['Auditor'],
    email: 'sample@fleet.example',
    pids: [1],
    kernel_package_id: 1,
  };
}

const VOLATILE = ['login_failure', 'login_address'];

async function fingerprint(db: Database, accountId?: number): Promise<string> {
  const tables = await db.query<{ name: string }>(
    `select t.table_name as name from information_schema.tables t
     where t.table_schema = 'public' and t.table_type = 'BASE TABLE' and t.table_name <> all($1)
       and ($2 or exists (select from information_schema.columns c
         where c.table_name = t.table_name and c.column_name = 'account_id'))
     order by 1`,
    [VOLATILE, accountId === undefined],
  );
  const where = accountId === undefined ? '' : `where account_id = ${accountId}`;
  const parts = tables.map(({ name }) => {
    const row = name === 'person' ? `to_jsonb(t) - 'last_login_time' - 'last_login_host'` : 't';
    return `select '${name}:' || md5(coalesce(string_agg((${row})::text, '' order by (${row})::text), '')) as line from "${name}" t ${where}`;
  });
  const rows = await db.query<{ line: string }>(parts.join(' union all '));
  return rows
    .map(({ line }) => line)
    .sort()
    .join('\n');
}
