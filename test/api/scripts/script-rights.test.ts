import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGroup, createMember } from '../../../tools/harness/accounts.ts';
import { createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { base64, script, scriptProfile } from '../../support/scripts/scripts.ts';

let database: TestDatabase;
let app: TestApp;
let admin: string;
let accountId: number;
let turn = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createAdmin(database.persistence));
  await createGroup(database.persistence.db, accountId, 'servers');
  await createGroup(database.persistence.db, accountId, 'desktops');
  app = await createTestApp(database.persistence, { clock: { now: () => new Date('2026-11-21T12:00:00Z') } });
  admin = await app.login();
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const call = (method: string, path: string, body?: unknown, token = admin) => app.call(method, path, { token, body });

/** A script of the group `servers` with two files. */
async function createScript(): Promise<{ id: number; title: string }> {
  turn++;
  const attachments = ['a', 'b'].map((filename) => ({ filename, content: base64(filename) }));
  const { body } = await call(
    'POST',
    '/scripts',
    script({ title: `Script ${turn}`, access_group: 'servers', attachments }),
  );
  return body;
}

const createProfile = async (scriptId: number, title = `Nightly ${turn}`) =>
  (await call('POST', '/script-profiles', scriptProfile(scriptId, { title }))).body;

/** Somebody with these permissions in some groups. */
async function login(permissions: readonly string[], groups: readonly string[] = ['servers']): Promise<string> {
  const name = `role ${++turn}`;
  await call('POST', '/roles', { name, permissions, access_groups: groups });
  const email = `person-${turn}@fleet.example`;
  return app.login(await createMember(database.persistence.db, { accountId, email, role: name }));
}

const WRITER = ['ViewScript', 'ManageScript'];
const RUNNER = ['ManageScriptProfile', 'ExecuteScript'];
const EVERYTHING = [...WRITER, ...RUNNER];

const RUN_BY_PROFILES: ReadonlyArray<readonly [string, object]> = [
  ['other code', { code: '#!/bin/bash\nid\n' }],
  ['another interpreter', { code: '#!/bin/sh\necho hello\n' }],
  ['another file', { attachments: [{ filename: 'a' }, { filename: 'b' }, { filename: 'c', content: '' }] }],
  ['other content of a file', { attachments: [{ filename: 'a' }, { filename: 'b', content: base64('x') }] }],
  ['a file less', { attachments: [{ filename: 'a' }] }],
];
const OF_THE_SCRIPT_ALONE: ReadonlyArray<readonly [string, object]> = [
  ['the title', { title: 'Another title' }],
  ['the time limit', { time_limit: 17 }],
  ['the user name', { username: 'nobody' }],
  ['the same code', { code: '#!/bin/bash\necho hello\n' }],
  ['the same files', { attachments: [{ filename: 'b' }, { filename: 'a' }] }],
];

describe('PATCH of a script that active profiles run', () => {
  const insufficient = [
    WRITER,
    [...WRITER, 'ExecuteScript'],
    [...WRITER, 'ManageScriptProfile'],
    [...WRITER, 'ViewScriptProfile'],
  ];
  it.each(RUN_BY_PROFILES)('rejects %s without the permissions to let it run by itself', async (_, patch) => {
    const made = await createScript();
    await createProfile(made.id);
    const before = (await call('GET', `/scripts/${made.id}`)).text;
    for (const permissions of insufficient) {
      const { body } = await call('PATCH', `/scripts/${made.id}`, patch, await login(permissions));
      expect(body, permissions.join()).toMatchObject({ error: 'Forbidden', code: 403 });
      for (const permission of RUNNER)
        expect(body.message.includes(permission)).toBe(!permissions.includes(permission));
    }
    expect((await call('GET', `/scripts/${made.id}`)).text).toBe(before);
    expect((await call('PATCH', `/scripts/${made.id}`, patch, await login(EVERYTHING))).status).toBe(200);
  });

  it.each(OF_THE_SCRIPT_ALONE)('takes %s from whoever may write scripts', async (_, patch) => {
    const made = await createScript();
    await createProfile(made.id);
    const own = 'title' in patch ? { title: `${patch.title} ${turn}` } : patch;
    expect((await call('PATCH', `/scripts/${made.id}`, own, await login(WRITER))).status).toBe(200);
  });

  it('decides by the access group of the script', async () => {
    const made = await createScript();
    await createProfile(made.id);
    const name = `elsewhere ${turn}`;
    await call('POST', '/roles', { name, permissions: RUNNER, access_groups: ['desktops'] });
    const writer = `writer ${turn}`;
    await call('POST', '/roles', { name: writer, permissions: WRITER, access_groups: ['servers'] });
    const person = await createMember(database.persistence.db, {
      accountId,
      email: `${turn}@fleet.example`,
      role: name,
    });
    await call('PUT', `/administrators/${person.personId}`, { roles: [name, writer] });
    const response = await call('PATCH', `/scripts/${made.id}`, RUN_BY_PROFILES[0]![1], await app.login(person));
    expect(response.body.error).toBe('Forbidden');
  });

  it('names the profiles to whoever may see them', async () => {
    const made = await createScript();
    const profile = await createProfile(made.id, 'Keep the lights on');
    const [, patch] = RUN_BY_PROFILES[0]!;
    const seen = await call('PATCH', `/scripts/${made.id}`, patch, await login([...WRITER, 'ViewScriptProfile']));
    expect(seen.body.message).toContain(`Keep the lights on (${profile.id})`);
    const unseen = await call('PATCH', `/scripts/${made.id}`, patch, await login(WRITER));
    expect(unseen.body.message).not.toContain('Keep the lights on');
  });

  it.each(RUN_BY_PROFILES)(
    'takes %s from whoever may write scripts once no active profile is left',
    async (_, patch) => {
      const made = await createScript();
      const profile = await createProfile(made.id);
      await call('POST', `/script-profiles/${profile.id}:archive`);
      expect((await call('PATCH', `/scripts/${made.id}`, patch, await login(WRITER))).status).toBe(200);
    },
  );

  it('is moved by those alone who may let scripts run by themselves where it goes', async () => {
    const made = await createScript();
    await createProfile(made.id);
    const patch = { access_group: 'desktops' };
    const both = ['servers', 'desktops'];
    const rejected = await call('PATCH', `/scripts/${made.id}`, patch, await login(WRITER, both));
    expect(rejected.body.error).toBe('Forbidden');
    expect((await call('PATCH', `/scripts/${made.id}`, patch, await login(EVERYTHING, both))).status).toBe(200);
  });
});

describe('the event of a changed script', () => {
  const events = async (id: number) =>
    database.persistence.db.query<{ message: string }>(
      `select message from event where entity_type = 'Script' and entity_id = $1 order by id`,
      [id],
    );
  it('names the profiles that run it', async () => {
    const made = await createScript();
    const profiles = [await createProfile(made.id, 'First'), await createProfile(made.id, 'Second')];
    const named = `which the script profiles First (${profiles[0].id}), Second (${profiles[1].id}) run`;
    await call('PATCH', `/scripts/${made.id}`, { code: '#!/bin/sh\nid\n' });
    await call('PATCH', `/scripts/${made.id}`, { title: `Renamed ${turn}` });
    await call('PATCH', `/scripts/${made.id}`, { access_group: 'desktops' });
    await call('POST', `/scripts/${made.id}:archive`);
    expect((await events(made.id)).map(({ message }) => message)).toEqual([
      `Created the script ${made.title}`,
      `Changed the code of the script ${made.title}, ${named}`,
      `Changed the title of the script ${made.title}`,
      `Changed the access group of the script Renamed ${turn}, ${named}`,
      `Archived the script Renamed ${turn}, ${named}`,
    ]);
  });
});
