import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createGroup, createMember } from '../../../tools/harness/accounts.ts';
import { createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { base64, script } from '../../support/scripts/scripts.ts';

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
      `select distinct p.fields, p.answer_seconds, l.answer_seconds as batch from activity a
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
        batch: 660,
      },
    ]);
  });

  it('keeps a replaced file for runs that name it, and no other', async () => {
    const file = (text: string) => ({ attachments: [{ filename: 'data.txt', content: base64(text) }] });
    const { body } = await create({ title: title(), ...file('one') });
    const replace = (text: string) => call('PATCH', `/scripts/${body.id}`, file(text));
    const kept = async () => {
      const rows = await sql().query<{ text: string }>(
        `select convert_from(content, 'UTF8') as text from script_attachment where script_id = $1 order by id`,
        [body.id],
      );
      return rows.map(({ text }) => text);
    };
    await replace('two');
    expect(await kept()).toEqual(['two']);
    await call('POST', `/scripts/${body.id}:execute`, { query: `id:${computers.web}` });
    for (const text of ['three', 'four']) await replace(text);
    expect(await kept()).toEqual(['two', 'four']);
    await call('PATCH', `/scripts/${body.id}`, { attachments: [{ filename: 'data.txt' }] });
    expect(await kept()).toEqual(['two', 'four']);
  });

  it('distinguishes in the result how it ended, the whole output kept', async () => {
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

  it('succeeds at once where the query means no computer', async () => {
    const { body } = await create({ title: title() });
    const run = await call('POST', `/scripts/${body.id}:execute`, { query: 'tag:nobody' });
    expect(run.status).toBe(200);
    expect(run.body).toMatchObject({ type: 'ActivityGroup', activity_status: 'succeeded' });
    expect((await call('GET', `/activities/${run.body.id}`)).body).toMatchObject({
      activity_status: 'succeeded',
      completion_time: '2026-11-21T12:00:00Z',
      children: [],
      actions: { cancelable: false, reappliable: false, revertable: false },
    });
  });

  it.each([
    [{ query: 'tag:lab OR' }, 'InvalidQueryError', 'body.query'],
    [{}, 'InvalidParameter', 'body.query'],
    [{ query: '', username: 'a b' }, 'InvalidParameter', 'body.username'],
    [{ query: '', time_limit: -1 }, 'InvalidParameter', 'body.time_limit'],
    [{ query: '', deliver_after: '2026-11-21T12:00:00Z' }, 'InvalidParameter', 'body.deliver_after'],
    [{ query: '', deliver_delay_window: 1441 }, 'InvalidParameter', 'body.deliver_delay_window'],
  ])('rejects %j and makes nothing', async (command, error, path) => {
    const { body } = await create({ title: title() });
    const before = await stored();
    const response = await call('POST', `/scripts/${body.id}:execute`, command);
    expect(response.body).toMatchObject({ error, code: 400, details: [{ path }] });
    expect(await stored()).toEqual(before);
  });

  it.each([
    'no zone: 2026-11-21 13:00',
    '2026-11-21T23:59:60Z',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '2026-11-21T12:00:00+15:00',
    '2026-11-21T12:00:00+14:00',
  ])('TIME-bad: rejects deliver_after %s', async (deliver_after) => {
    const { body } = await create({ title: title() });
    const response = await call('POST', `/scripts/${body.id}:execute`, { query: '', deliver_after });
    expect(response.body).toMatchObject({ error: 'InvalidParameter', details: [{ path: 'body.deliver_after' }] });
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

describe('archiving scripts', () => {
  it('archives once and for good', async () => {
    const { body } = await create({ title: title() });
    for (let i = 0; i < 2; i++) {
      const response = await call('POST', `/scripts/${body.id}:archive`);
      expect([response.status, response.text]).toEqual([204, '']);
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
    const commands = await sql().query(
      `select kind from agent_inbox i join activity a on a.id = i.activity_id where a.parent_id = $1`,
      [run.body.id],
    );
    expect(commands).toEqual([{ kind: 'cancel' }, { kind: 'cancel' }]);
    await sql().query(`update activity set status = 'canceled' where id = $1 or parent_id = $1`, [run.body.id]);
    const again = await call('POST', '/activities/reapply', { activity_ids: [run.body.id] });
    const details = [{ id: run.body.id, message: 'its script is redacted' }];
    expect(again.body).toMatchObject({ error: 'ActivityNotEligible', code: 400, details });
    expect((await call('GET', `/activities/${run.body.id}`)).body.actions.reappliable).toBe(false);
  });
});

afterEach(async () => {
  const [row] = await sql().query<{ text: string }>(`select coalesce(string_agg(message, ' '), '') as text from event`);
  expect(row!.text).not.toContain('echo hello');
});
