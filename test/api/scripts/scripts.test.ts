import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount, createGroup, createMember } from '../../../tools/harness/accounts.ts';
import { createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { base64, script } from '../../support/scripts/scripts.ts';

const NOW = new Date('2026-11-21T12:00:00Z');

let database: TestDatabase;
let app: TestApp;
let token: string;
let accountId: number;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createAdmin(database.persistence));
  const { db } = database.persistence;
  await createGroup(db, accountId, 'servers');
  await createGroup(db, accountId, 'desktops');
  app = await createTestApp(database.persistence, { clock: { now: () => NOW } });
  token = await app.login();
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const sql = () => database.persistence.db;
const call = (method: string, path: string, body?: unknown, as = token) => app.call(method, path, { token: as, body });
const create = (over: object = {}) => call('POST', '/scripts', script(over));
const stored = async () =>
  (
    await sql().query(
      `select (select count(*)::int from script) as scripts, (select count(*)::int from activity) as runs`,
    )
  )[0];

let turn = 0;
beforeEach(() => {
  turn++;
});
const title = (name = 'Script') => `${name} ${turn}`;
describe('POST /scripts', () => {
  it('keeps plain code, its #! line as the interpreter', async () => {
    const { status, body } = await create({ title: ` ${title()} ` });
    expect(status).toBe(201);
    const person = { id: expect.any(Number), name: 'Admin One' };
    expect(body).toEqual({
      id: expect.any(Number),
      title: title(),
      version_number: 1,
      created_by: person,
      created_at: '2026-11-21T12:00:00.000000',
      last_edited_by: person,
      last_edited_at: '2026-11-21T12:00:00.000000',
      script_profiles: [],
      status: 'ACTIVE',
      attachments: [],
      code: 'echo hello\n',
      interpreter: '/bin/bash',
      access_group: 'global',
      time_limit: 300,
      username: 'root',
      is_redactable: true,
      is_editable: true,
      is_executable: true,
    });
    expect((await call('GET', `/scripts/${body.id}`)).body).toEqual(body);
  });

  it.each([
    ['#!/usr/bin/env python3 -u\r\nprint(1)', '/usr/bin/env python3 -u', 'print(1)'],
    ['#! /bin/sh -e \n\ntrue', '/bin/sh -e', '\ntrue'],
    ['#!/bin/true', '/bin/true', ''],
  ])('takes %j apart', async (code, interpreter, rest) => {
    expect((await create({ title: title(), code })).body).toMatchObject({ interpreter, code: rest });
  });

  it.each([
    [{ code: 'echo hello' }, 'body.code'],
    [{ code: ' #!/bin/sh\n' }, 'body.code'],
    [{ code: '\n#!/bin/sh\n' }, 'body.code'],
    [{ code: '#!\necho' }, 'body.code'],
    [{ code: '#!bash\necho' }, 'body.code'],
    [{ code: '' }, 'body.code'],
    [{ code: undefined }, 'body.code'],
    [{ title: ' ' }, 'body.title'],
    [{ title: 'a\nb' }, 'body.title'],
    [{ username: 'no spaces' }, 'body.username'],
    [{ username: '-dash' }, 'body.username'],
    [{ username: 'x'.repeat(33) }, 'body.username'],
    [{ time_limit: 0 }, 'body.time_limit'],
    [{ time_limit: 604_801 }, 'body.time_limit'],
    [{ time_limit: '60' }, 'body.time_limit'],
    [{ attachments: [{ filename: '../x', content: '' }] }, 'body.attachments.0.filename'],
    [{ attachments: [{ filename: 'é'.repeat(128), content: '' }] }, 'body.attachments.0.filename'],
    [{ attachments: [{ filename: '__proto__', content: '' }] }, 'body.attachments.0.filename'],
    [{ attachments: [{ filename: 'x', content: 'not base64!' }] }, 'body.attachments.0.content'],
    [{ attachments: [{ filename: 'x' }] }, 'body.attachments.0.content'],
    [{ attachments: ['a', 'a'].map((filename) => ({ filename, content: '' })) }, 'body.attachments.1.filename'],
    [{ attachments: [...'abcdef'].map((filename) => ({ filename, content: '' })) }, 'body.attachments'],
    [
      { attachments: ['a', 'b'].map((filename) => ({ filename, content: base64('x'.repeat(500_001)) })) },
      'body.attachments',
    ],
  ])('rejects %j and stores nothing', async (over, path) => {
    const before = await stored();
    const { body } = await create({ title: title(), ...over });
    expect(body).toMatchObject({ error: 'InvalidParameter', code: 400, details: [{ path }] });
    expect(await stored()).toEqual(before);
  });

  it('takes a text however its characters are written', async () => {
    const text = 'é'.repeat(500_000);
    const escaped = JSON.stringify({ title: title(), code: `#!/bin/sh\n${text}` }).replaceAll('é', '\\u00e9');
    const response = await fetch(`${app.url}/api/v2/scripts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: escaped,
    });
    const { code } = (await response.json()) as { code: string };
    expect([response.status, code === text]).toEqual([201, true]);
  });

  it('rejects an unknown access group and a title that another active script has', async () => {
    expect((await create({ access_group: 'nowhere' })).body).toMatchObject({ error: 'UnknownAccessGroup', code: 400 });
    const { body } = await create({ title: title() });
    expect((await create({ title: title() })).body).toMatchObject({ error: 'DuplicateScript', code: 409 });
    await call('POST', `/scripts/${body.id}:archive`);
    expect((await create({ title: title() })).status).toBe(201);
  });

  it('keeps five files of a megabyte together and gives them back as they are', async () => {
    const contents = [...'abcde'].map((name) => ({ filename: `${name}.bin`, bytes: Buffer.alloc(200_000, name) }));
    const attachments = contents.map(({ filename, bytes }) => ({ filename, content: bytes.toString('base64') }));
    const { body } = await create({ title: title(), attachments });
    expect(body.attachments).toEqual(contents.map(({ filename }) => ({ id: expect.any(Number), filename })));
    const path = `/scripts/${body.id}/attachments`;
    const response = await fetch(`${app.url}/api/v2${path}/${body.attachments[1].id}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(Buffer.from(await response.arrayBuffer()).equals(contents[1]!.bytes)).toBe(true);
    expect((await call('GET', `${path}/999999`)).body).toMatchObject({ error: 'UnknownScriptAttachment', code: 404 });
  });
});

describe('PATCH /scripts/<id>', () => {
  it('makes other code a new version and keeps the old one', async () => {
    const { body } = await create({ title: title() });
    const path = `/scripts/${body.id}`;
    expect((await call('PATCH', path, { code: '#!/bin/bash\necho hello\n' })).body.version_number).toBe(1);
    const changed = await call('PATCH', path, { code: '#!/bin/sh\necho bye\n', title: `${title()} b` });
    expect(changed.body).toMatchObject({ version_number: 2, interpreter: '/bin/sh', code: 'echo bye\n' });
    const versions = (await call('GET', `${path}/versions`)).body;
    expect(versions.count).toBe(2);
    expect(versions.results.map((v: { version_number: number }) => v.version_number)).toEqual([2, 1]);
    expect(versions.results[1]).toEqual({
      id: body.id,
      title: title(),
      version_number: 1,
      created_by: body.created_by,
      created_at: body.created_at,
    });
    expect((await call('GET', `${path}/versions/1`)).body).toMatchObject({
      code: 'echo hello\n',
      interpreter: '/bin/bash',
    });
    expect((await call('GET', `${path}/versions/3`)).body).toMatchObject({ error: 'UnknownScriptVersion', code: 404 });
    expect((await call('PATCH', path, { code: 'echo' })).body.details).toMatchObject([{ path: 'body.code' }]);
    await create({ title: `${title()} c` });
    const second = await call('PATCH', path, { title: `${title()} c` });
    expect(second.body).toMatchObject({ error: 'DuplicateScript', code: 409 });
  });

  it('keeps named files, adds new ones and takes away the rest', async () => {
    const attachments = ['a', 'b'].map((filename) => ({ filename, content: base64(filename) }));
    const { body } = await create({ title: title(), attachments });
    const path = `/scripts/${body.id}`;
    const changed = await call('PATCH', path, {
      attachments: [{ filename: 'b' }, { filename: 'c', content: base64('c') }],
    });
    expect(changed.body.attachments).toEqual([body.attachments[1], { id: expect.any(Number), filename: 'c' }]);
    expect((await call('GET', `${path}/attachments/${body.attachments[0].id}`)).status).toBe(404);
    expect((await call('PATCH', path, { attachments: [] })).body.attachments).toEqual([]);
    expect((await call('PATCH', path, {})).body.version_number).toBe(1);
  });

  it('moves it to another access group, by whoever may write scripts there', async () => {
    const { body } = await create({ title: title(), access_group: 'servers' });
    const to = (group: string, as = token) => call('PATCH', `/scripts/${body.id}`, { access_group: group }, as);
    const role = { accountId, email: 'mover@x.example', role: 'ServerAdmin', groups: ['servers'] };
    const member = await app.login(await createMember(sql(), role));
    expect((await to('desktops', member)).status).toBe(403);
    expect((await to('nowhere')).body).toMatchObject({ error: 'UnknownAccessGroup', code: 400 });
    expect((await call('GET', `/scripts/${body.id}`)).body.access_group).toBe('servers');
    const moved = await to('desktops');
    expect(moved.body).toMatchObject({ access_group: 'desktops', version_number: 1 });
    expect((await call('GET', `/scripts/${body.id}`, undefined, member)).status).toBe(404);
  });

  it('takes nothing from an archived or redacted script', async () => {
    const { body } = await create({ title: title() });
    await call('POST', `/scripts/${body.id}:archive`);
    expect((await call('PATCH', `/scripts/${body.id}`, { title: 'x' })).body).toMatchObject({
      error: 'ScriptArchived',
      code: 400,
    });
  });
});

describe('GET /scripts', () => {
  it('filters by kind and title, newest first, without code', async () => {
    const made: number[] = [];
    for (const name of ['one', 'two', 'three']) made.push((await create({ title: title(`List ${name}`) })).body.id);
    await call('POST', `/scripts/${made[1]}:archive`);
    await call('POST', `/scripts/${made[2]}:redact`);
    const ids = async (query: string) =>
      (await call('GET', `/scripts?search=list${query}`)).body.results.map((s: { id: number }) => s.id);
    expect(await ids('')).toEqual([made[0]]);
    expect(await ids('&script_type=v2')).toEqual([made[0]]);
    expect(await ids('&script_type=archived')).toEqual([made[1]]);
    expect(await ids('&script_type=redacted')).toEqual([made[2]]);
    expect(await ids('&script_type=all')).toEqual(made.toReversed());
    expect(await ids('&script_type=all&limit=1&offset=1')).toEqual([made[1]]);
    const { results } = (await call('GET', '/scripts?search=list')).body;
    expect(results[0]).not.toHaveProperty('code');
    expect((await call('GET', '/scripts?script_type=v1')).body.error).toBe('InvalidParameter');
  });

  it('shows each person what they may see and do', async () => {
    const { body } = await create({ title: title(), access_group: 'servers' });
    const members = {
      outside: await createMember(sql(), {
        accountId,
        email: 'o@x.example',
        role: 'ServerAdmin',
        groups: ['desktops'],
      }),
      auditor: await createMember(sql(), { accountId, email: 'a@x.example', role: 'Auditor' }),
      analyst: await createMember(sql(), { accountId, email: 's@x.example', role: 'SupportAnalyst' }),
      other: await createAccount(sql(), 'other'),
    };
    const flags = { is_redactable: false, is_editable: false };
    const seen = async (who: keyof typeof members) =>
      call('GET', `/scripts/${body.id}`, undefined, await app.login(members[who]));
    expect((await seen('auditor')).body).toMatchObject({ ...flags, is_executable: false });
    expect((await seen('analyst')).body).toMatchObject({ ...flags, is_executable: true });
    for (const who of ['outside', 'other'] as const) {
      expect((await seen(who)).body).toMatchObject({ error: 'UnknownScript', code: 404 });
      const as = await app.login(members[who]);
      const run = await call('POST', `/scripts/${body.id}:execute`, { query: '' }, as);
      expect(run.body).toMatchObject({ error: 'UnknownScript', code: 404 });
    }
    const analyst = await app.login(members.analyst);
    expect((await call('PATCH', `/scripts/${body.id}`, { title: 'x' }, analyst)).status).toBe(403);
  });
});

afterEach(async () => {
  const [row] = await sql().query<{ text: string }>(`select coalesce(string_agg(message, ' '), '') as text from event`);
  expect(row!.text).not.toContain('echo hello');
});
