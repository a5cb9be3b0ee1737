import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount, createGroup, createMember } from '../support/accounts.ts';
import { createAdmin, createTestApp, type TestApp } from '../support/app.ts';
import { insertComputer } from '../support/computers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { base64, script } from '../support/scripts.ts';

const NOW = new Date('2026-11-21T12:00:00Z');

let database: TestDatabase;
let app: TestApp;
let token: string;
let accountId: number;
let computers: { web: number; db: number; away: number };

beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createAdmin(database.persistence));
  const { db } = database.persistence;
  await createGroup(db, accountId, 'servers');
  await createGroup(db, accountId, 'desktops');
  app = await createTestApp(database.persistence, { clock: { now: () => NOW } });
  token = await app.login();
  computers = {
    web: await insertComputer(db, { accountId, title: 'web', group: 'servers', tags: ['lab'] }),
    db: await insertComputer(db, { accountId, title: 'db', group: 'servers' }),
    away: await insertComputer(db, { accountId, title: 'away', group: 'desktops', tags: ['lab'] }),
  };
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
    [{ attachments: [{ filename: '../x', content: '' }] }, 'body.attachments[0].filename'],
    [{ attachments: [{ filename: '__proto__', content: '' }] }, 'body.attachments[0].filename'],
    [{ attachments: [{ filename: 'x', content: 'not base64!' }] }, 'body.attachments[0].content'],
    [{ attachments: [{ filename: 'x' }] }, 'body.attachments[0].content'],
    [{ attachments: ['a', 'a'].map((filename) => ({ filename, content: '' })) }, 'body.attachments[1].filename'],
    [{ attachments: [...'abcdef'].map((filename) => ({ filename, content: '' })) }, 'body.attachments'],
    [
      { attachments: ['a', 'b'].map((filename) => ({ filename, content: base64('x'.repeat(500_001)) })) },
      'body.attachments',
    ],
  ])('refuses %j and stores nothing', async (over, path) => {
    const before = await stored();
    const { body } = await create({ title: title(), ...over });
    expect(body).toMatchObject({ error: 'InvalidParameter', code: 400, details: [{ path }] });
    expect(await stored()).toEqual(before);
  });

  it('refuses an unknown access group and a title that another active script has', async () => {
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
    const answer = await fetch(`${app.url}/api/v2${path}/${body.attachments[1].id}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(Buffer.from(await answer.arrayBuffer()).equals(contents[1]!.bytes)).toBe(true);
    expect((await call('GET', `${path}/999999`)).body).toMatchObject({ error: 'UnknownScriptAttachment', code: 404 });
  });
});

describe('PATCH /scripts/<id>', () => {
  it('makes other code a new version and keeps the old one', async () => {
    const { body } = await create({ title: title() });
    const path = `/scripts/${body.id}`;
    expect((await call('PATCH', path, { code: '#!/bin/bash\necho hello\n' })).body.version_number).toBe(1);
    const changed = await call('PATCH', path, { code: '#!/bin/sh\necho bye\n', title: `${title()} b`, id: 7 });
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

describe('POST /scripts/<id>:execute', () => {
  it('makes an operation on every computer that the query means', async () => {
    const attachments = [{ filename: 'data.txt', content: base64('data') }];
    const { body } = await create({ title: title(), attachments, time_limit: 60, username: 'backup' });
    const run = await call('POST', `/scripts/${body.id}:execute`, { query: 'tag:lab' });
    expect(run.status).toBe(200);
    expect(run.body).toMatchObject({ type: 'ActivityGroup', summary: `Run script: ${title()}`, parent_id: null });
    const detail = (await call('GET', `/activities/${run.body.id}`)).body;
    expect(detail.children).toHaveLength(2);
    expect(detail.children[0]).toMatchObject({ type: 'ExecuteScriptRequest', summary: `Run script: ${title()}` });
    expect(JSON.stringify(detail)).not.toContain('echo hello');
    const rows = await sql().query<{ fields: object; answer_seconds: number }>(
      `select distinct p.fields, p.answer_seconds, l.answer_seconds as lane from activity a
       join operation_payload p on p.id = a.payload_id join lane l on l.id = a.lane_id where a.parent_id = $1`,
      [run.body.id],
    );
    expect(rows).toMatchObject([
      {
        fields: {
          username: 'backup',
          interpreter: '/bin/bash',
          code: 'echo hello\n',
          'time-limit': 60,
          attachments: { 'data.txt': body.attachments[0].id },
          env: { LANDSCAPE_ACCOUNT: 'standalone', LANDSCAPE_ACTIVITY_CREATION_TIME: '2026-11-21T12:00:00Z' },
        },
        answer_seconds: 660,
        lane: 660,
      },
    ]);
  });

  it('is repeated with its time limit, by whoever may run scripts there', async () => {
    const { body } = await create({ title: title(), time_limit: 42 });
    const run = await call('POST', `/scripts/${body.id}:execute`, { query: `id:${computers.web}` });
    await sql().query(`update activity set status = 'failed' where id = $1 or parent_id = $1`, [run.body.id]);
    const [again] = (await call('POST', '/activities/reapply', { activity_ids: [run.body.id] })).body;
    const rows = await sql().query(
      `select p.answer_seconds, p.script_id, l.answer_seconds as lane, p.fields->>'code' as code from activity a
       join operation_payload p on p.id = a.payload_id join lane l on l.id = a.lane_id where a.parent_id = $1`,
      [again],
    );
    expect(rows).toEqual([{ answer_seconds: 642, script_id: body.id, lane: 642, code: 'echo hello\n' }]);
  });

  it('tells apart in the result how it ended, the whole output kept', async () => {
    const { body } = await create({ title: title() });
    const run = await call('POST', `/scripts/${body.id}:execute`, { query: `id:${computers.web}` });
    const read = async (code: number | null, text: string | null) => {
      await sql().query(
        `update activity set status = case when $2::int is null then 'succeeded' else 'failed' end, result_code = $2,
           result_text = $3 where parent_id = $1`,
        [run.body.id, code, text],
      );
      return (await call('GET', `/activities/${run.body.id}`)).body.children[0];
    };
    const output = `${'x'.repeat(99_999)}\n`;
    expect(await read(null, output)).toMatchObject({ result_code: null, result_text: output });
    const texts: Array<[number, string]> = [
      [102, 'The script reached its time limit and was killed.'],
      [103, 'The script ended with a non-zero exit code.'],
      [104, 'An attachment of the script could not be fetched.'],
    ];
    for (const [code, words] of texts) {
      expect(await read(code, output)).toMatchObject({ result_code: code, result_text: `${words}\n${output}` });
      expect((await read(code, null)).result_text).toBe(words);
    }
  });

  it('takes another user, time limit and moment', async () => {
    const { body } = await create({ title: title() });
    const over = { username: 'www-data', time_limit: 5, deliver_after: '2026-11-22T00:00:00Z' };
    const run = await call('POST', `/scripts/${body.id}:execute`, { query: `id:${computers.web}`, ...over });
    expect(run.body.activity_status).toBe('scheduled');
    const [row] = await sql().query<{ fields: object }>(
      'select p.fields from operation_payload p join activity a on a.payload_id = p.id where a.parent_id = $1',
      [run.body.id],
    );
    expect(row!.fields).toMatchObject({ username: 'www-data', 'time-limit': 5 });
  });

  it.each([
    [{ query: 'tag:nobody' }, 'InvalidParameter', 'body.query'],
    [{ query: 'tag:lab OR' }, 'InvalidQueryError', 'body.query'],
    [{}, 'InvalidParameter', 'body.query'],
    [{ query: '', username: 'a b' }, 'InvalidParameter', 'body.username'],
    [{ query: '', time_limit: -1 }, 'InvalidParameter', 'body.time_limit'],
    [{ query: '', deliver_after: '2026-11-21T12:00:00Z' }, 'InvalidParameter', 'body.deliver_after'],
    [{ query: '', deliver_delay_window: 1441 }, 'InvalidParameter', 'body.deliver_delay_window'],
  ])('refuses %j and makes nothing', async (command, error, path) => {
    const { body } = await create({ title: title() });
    const before = await stored();
    const answer = await call('POST', `/scripts/${body.id}:execute`, command);
    expect(answer.body).toMatchObject({ error, code: 400, details: [{ path }] });
    expect(await stored()).toEqual(before);
  });

  it.each([
    'no zone: 2026-11-21 13:00',
    '2026-11-21T23:59:60Z',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '2026-11-21T12:00:00+15:00',
    '2026-11-21T12:00:00+14:00',
  ])('TIME-bad: refuses deliver_after %s', async (deliver_after) => {
    const { body } = await create({ title: title() });
    const answer = await call('POST', `/scripts/${body.id}:execute`, { query: '', deliver_after });
    expect(answer.body).toMatchObject({ error: 'InvalidParameter', details: [{ path: 'body.deliver_after' }] });
  });

  it('needs the right on every computer and in the group of the script', async () => {
    const { body } = await create({ title: title(), access_group: 'servers' });
    const email = `runner${turn}@x.example`;
    const runner = await createMember(sql(), { accountId, email, role: 'SupportAnalyst', groups: ['servers'] });
    const auditor = `select $1::int, $2::int, id from role where account_id = $1 and name = 'Auditor'`;
    await sql().query(`insert into membership_role (account_id, person_id, role_id) ${auditor}`, [
      accountId,
      runner.personId,
    ]);
    const as = await app.login(runner);
    const run = (query: string, id = body.id) => call('POST', `/scripts/${id}:execute`, { query }, as);
    expect((await run('')).body).toMatchObject({ error: 'Forbidden', details: [{ id: computers.away }] });
    expect((await run('access-group:servers')).status).toBe(200);
    const global = await create({ title: `${title()} global` });
    expect((await run('access-group:servers', global.body.id)).body.error).toBe('Forbidden');
  });
});

describe('putting scripts away', () => {
  it('archives once and for good', async () => {
    const { body } = await create({ title: title() });
    for (let i = 0; i < 2; i++) {
      const answer = await call('POST', `/scripts/${body.id}:archive`);
      expect([answer.status, answer.text]).toEqual([204, '']);
    }
    const after = (await call('GET', `/scripts/${body.id}`)).body;
    expect(after).toMatchObject({ status: 'ARCHIVED', is_editable: false, is_executable: false, is_redactable: true });
    expect(after.code).toBe('echo hello\n');
    const run = await call('POST', `/scripts/${body.id}:execute`, { query: '' });
    expect(run.body).toMatchObject({ error: 'ScriptArchived', code: 400 });
  });

  it('redacts code, versions, files and what was sent, and cancels what has not run', async () => {
    const canary = `canary-${crypto.randomUUID()}`;
    const attachments = [{ filename: 'secret.txt', content: base64(canary) }];
    const { body } = await create({ title: title(), code: `#!/bin/sh\necho ${canary}`, attachments });
    await call('PATCH', `/scripts/${body.id}`, { code: `#!/bin/sh\necho 2 ${canary}` });
    const run = await call('POST', `/scripts/${body.id}:execute`, { query: 'tag:lab' });
    for (let i = 0; i < 2; i++) expect((await call('POST', `/scripts/${body.id}:redact`)).status).toBe(204);
    const after = (await call('GET', `/scripts/${body.id}`)).body;
    expect(after).toMatchObject({ status: 'REDACTED', code: '', attachments: [], is_redactable: false });
    expect((await call('GET', `/scripts/${body.id}/versions/1`)).body.code).toBe('');
    const tables = ['script_version', 'script_attachment', 'operation_payload', 'event', 'activity'];
    for (const table of tables) {
      const rows = await sql().query(`select t::text as row from ${table} t`);
      const text = JSON.stringify(rows);
      expect(text).not.toContain(canary);
      expect(text).not.toContain(Buffer.from(canary).toString('hex'));
    }
    const orders = await sql().query(
      `select kind from agent_inbox i join activity a on a.id = i.activity_id where a.parent_id = $1`,
      [run.body.id],
    );
    expect(orders).toEqual([{ kind: 'cancel' }, { kind: 'cancel' }]);
    await sql().query(`update activity set status = 'canceled' where id = $1 or parent_id = $1`, [run.body.id]);
    const again = await call('POST', '/activities/reapply', { activity_ids: [run.body.id] });
    const details = [{ id: run.body.id, message: 'its script is redacted' }];
    expect(again.body).toMatchObject({ error: 'ActivityNotEligible', code: 400, details });
  });
});

afterEach(async () => {
  const [row] = await sql().query<{ text: string }>(`select coalesce(string_agg(message, ' '), '') as text from event`);
  expect(row!.text).not.toContain('echo hello');
});
