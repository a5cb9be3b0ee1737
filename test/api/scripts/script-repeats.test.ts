import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createGroup, createMember } from '../../../tools/harness/accounts.ts';
import { createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { script } from '../../support/scripts/scripts.ts';

const NOW = new Date('2026-11-21T12:00:00Z');

let database: TestDatabase;
let app: TestApp;
let token: string;
let accountId: number;
let computer: number;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createAdmin(database.persistence));
  await createGroup(sql(), accountId, 'servers');
  app = await createTestApp(database.persistence, { clock: { now: () => NOW } });
  token = await app.login();
  computer = await insertComputer(sql(), { accountId, title: 'web', group: 'servers' });
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

let turn = 0;
beforeEach(() => {
  turn++;
});

const sql = () => database.persistence.db;
const call = (method: string, path: string, body?: unknown, as = token) => app.call(method, path, { token: as, body });
const title = () => `Script ${turn}`;
const create = (over: object) => call('POST', '/scripts', script(over));
const countRuns = () => sql().query('select count(*)::int as count from activity');

describe('POST /activities/reapply of a script run', () => {
  it('keeps the time limit, by whoever may run scripts there', async () => {
    const { body } = await create({ title: title(), time_limit: 42 });
    const run = await call('POST', `/scripts/${body.id}:execute`, { query: `id:${computer}` });
    await sql().query(`update activity set status = 'failed' where id = $1 or parent_id = $1`, [run.body.id]);
    const email = 'manager@fleet.example';
    const manager = await createMember(sql(), { accountId, email, role: 'ServerAdmin', groups: ['global'] });
    await sql().query(`update role set permissions = array_remove(permissions, 'ExecuteScript') where name = $1`, [
      email,
    ]);
    const withoutScripts = await app.login(manager);
    const mayRepeat = async (as = token) =>
      (await call('GET', `/activities/${run.body.id}`, undefined, as)).body.actions.reappliable;
    expect(await mayRepeat()).toBe(true);
    expect(await mayRepeat(withoutScripts)).toBe(false);
    const [again] = (await call('POST', '/activities/reapply', { activity_ids: [run.body.id] })).body;
    const rows = await sql().query(
      `select p.answer_seconds, p.script_id, l.answer_seconds as batch, p.fields->>'code' as code from activity a
       join operation_payload p on p.id = a.payload_id join lane l on l.id = a.lane_id where a.parent_id = $1`,
      [again],
    );
    expect(rows).toEqual([{ answer_seconds: 642, script_id: body.id, batch: 642, code: 'echo hello\n' }]);
  });

  it('is for those alone who may run scripts of its access group', async () => {
    const { body } = await create({ title: title() });
    const run = await call('POST', `/scripts/${body.id}:execute`, { query: `id:${computer}` });
    await sql().query(`update activity set status = 'failed' where id = $1 or parent_id = $1`, [run.body.id]);
    const member = { accountId, email: `servers${turn}@x.example`, role: 'ServerAdmin', groups: ['servers'] };
    const limited = await app.login(await createMember(sql(), member));
    const repeat = () => call('POST', '/activities/reapply', { activity_ids: [run.body.id] }, limited);
    const mayRepeat = async () =>
      (await call('GET', `/activities/${run.body.id}`, undefined, limited)).body.actions.reappliable;
    expect(await mayRepeat()).toBe(false);
    const before = await countRuns();
    expect(await repeat()).toMatchObject({ status: 403, body: { error: 'Forbidden' } });
    expect(await countRuns()).toEqual(before);
    await call('PATCH', `/scripts/${body.id}`, { access_group: 'servers' });
    expect(await mayRepeat()).toBe(true);
    expect((await repeat()).status).toBe(200);
  });

  it('lets the script know who repeated it, and when', async () => {
    const { body } = await create({ title: title() });
    const run = await call('POST', `/scripts/${body.id}:execute`, { query: `id:${computer}` });
    await sql().query(`update activity set status = 'failed' where id = $1 or parent_id = $1`, [run.body.id]);
    await sql().query(
      `update operation_payload
       set fields = jsonb_set(fields, '{env,LANDSCAPE_ACTIVITY_CREATION_TIME}', '"2026-11-20T00:00:00Z"')
       where script_id = $1`,
      [body.id],
    );
    const analyst = { accountId, email: `repeater${turn}@x.example`, role: 'SupportAnalyst' };
    const { personId, ...login } = await createMember(sql(), analyst);
    const as = await app.login(login);
    const [again] = (await call('POST', '/activities/reapply', { activity_ids: [run.body.id] }, as)).body;
    const rows = await sql().query(
      `select p.fields->'env' as env from activity a join operation_payload p on p.id = a.payload_id
       where a.parent_id = $1`,
      [again],
    );
    expect(rows).toEqual([
      {
        env: {
          LANDSCAPE_ACCOUNT: 'standalone',
          LANDSCAPE_URL: expect.stringMatching(/^https?:/),
          LANDSCAPE_ACTIVITY_CREATOR_ID: String(personId),
          LANDSCAPE_ACTIVITY_CREATION_TIME: '2026-11-21T12:00:00Z',
        },
      },
    ]);
  });
});
