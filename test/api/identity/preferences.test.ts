import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createGateway, type Gateway } from '../../../src/gateway/http/gateway.ts';
import { type Config, loadConfig } from '../../../src/process/config.ts';
import { createLogger } from '../../../src/process/logger.ts';
import { systemClock } from '../../../src/services/common/ports.ts';
import { createAccount, createMember } from '../../../tools/harness/accounts.ts';
import { register } from '../../support/agents/raw-agent.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { createTestApp, type TestApp } from '../../support/http/app.ts';

let database: TestDatabase;
let gateway: Gateway;
let app: TestApp;
let config: Config;
let token: string;
let auditor: string;
let round = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  const { persistence } = database;
  config = loadConfig({ FLOTILLA_ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}` }, 'stack');
  const logger = createLogger({ level: 'silent', role: 'test' });
  gateway = createGateway({ persistence, config, logger, clock: systemClock });
  app = await createTestApp(persistence, { gateway: gateway.router });
});

beforeEach(async () => {
  const { db } = database.persistence;
  const account = await createAccount(db, `home${++round}`);
  token = await app.login(account);
  const { accountId } = account;
  auditor = await app.login(await createMember(db, { accountId, email: `a${round}@fleet.example`, role: 'Auditor' }));
});

afterAll(async () => {
  await app?.close();
  await gateway?.close();
  await database?.drop();
});

const read = async () => (await app.call('GET', '/preferences', { token })).body;
const change = (body: unknown) => app.call('PATCH', '/preferences', { token, body });

/** What a computer gets that requests enrolment. */
async function enrol(registration_password?: string): Promise<string> {
  const response = await register(app, {
    account_name: `home${round}`,
    computer_title: `computer ${randomBytes(4).toString('hex')}`,
    ...(registration_password === undefined ? {} : { registration_password }),
  });
  return response['type'] === 'set-id' ? await stateOfLast() : String(response['info']);
}

async function stateOfLast(): Promise<string> {
  const rows = await database.persistence.db.query<{ state: string }>(
    'select state from computer order by id desc limit 1',
  );
  return rows[0]!.state;
}

describe('/preferences', () => {
  it('changes what is given', async () => {
    expect(await read()).toEqual({
      title: `Account home${round}`,
      registration_password: null,
      auto_register_new_computers: true,
      audit_retention_period: -1,
      agent_intervals: null,
    });
    const changes = {
      title: 'Renamed',
      registration_password: 'let me in',
      auto_register_new_computers: false,
      audit_retention_period: 90,
      agent_intervals: { ping: 10, urgent_exchange: 30, exchange: 3600 },
    };
    expect((await change(changes)).body).toEqual(changes);
    expect(await read()).toEqual(changes);
    expect((await change({ title: ' Again ' })).body).toEqual({ ...changes, title: 'Again' });
    expect((await change({})).body).toEqual({ ...changes, title: 'Again' });
  });

  it('takes null for the default', async () => {
    const intervals = { ping: 10, urgent_exchange: 30, exchange: 3600 };
    await change({ registration_password: 'let me in', auto_register_new_computers: true, audit_retention_period: 9 });
    expect((await change({ agent_intervals: intervals })).body.agent_intervals).toEqual(intervals);
    const cleared = {
      registration_password: null,
      auto_register_new_computers: null,
      audit_retention_period: null,
      agent_intervals: null,
    };
    expect((await change(cleared)).body).toMatchObject({
      registration_password: null,
      auto_register_new_computers: false,
      audit_retention_period: -1,
      agent_intervals: null,
    });
    const [event] = await database.persistence.db.query<{ message: string }>(
      'select message from event order by id desc limit 1',
    );
    expect(event!.message).toContain(', intervals of agents of the account');
  });

  it('records in the event log that the retention is that of audits', async () => {
    await change({ audit_retention_period: 90 });
    const [event] = await database.persistence.db.query('select message from event order by id desc limit 1');
    expect(event).toEqual({ message: 'Changed retention of audit results and reports of the account' });
  });

  it('counts characters of the registration key, not their parts', async () => {
    for (const [key, status] of [
      ['\u{1f511}'.repeat(50), 200],
      ['\u{1f511}'.repeat(2), 400],
    ] as const) {
      expect((await change({ registration_password: key })).status).toBe(status);
    }
  });

  it('SECRET-leak: shows the registration key to who may manage the account, and to no log', async () => {
    await change({ registration_password: 'let me in' });
    expect((await app.call('GET', '/preferences', { token: auditor })).body).toMatchObject({ error: 'Forbidden' });
    const patch = await app.call('PATCH', '/preferences', { token: auditor, body: { title: 'x' } });
    expect(patch.body.error).toBe('Forbidden');
    const { db } = database.persistence;
    const [event] = await db.query('select entity_type, message from event order by id desc limit 1');
    expect(event).toEqual({ entity_type: 'Preferences', message: 'Changed registration key of the account' });
    expect(JSON.stringify(await db.query('select row_to_json(e)::text as e from event e'))).not.toContain('let me in');
  });

  it('rejects bad values and changes nothing', async () => {
    const before = await read();
    const bad = [
      { title: null },
      { title: '' },
      { title: 'two\nlines' },
      { title: 'x'.repeat(256) },
      { registration_password: 'ab' },
      { registration_password: '' },
      { registration_password: 'x'.repeat(51) },
      { registration_password: 'two\r\nlines' },
      { registration_password: ' spaces ' },
      { registration_password: 7 },
      { auto_register_new_computers: 'yes' },
      { audit_retention_period: 0 },
      { audit_retention_period: -2 },
      { audit_retention_period: 1.5 },
      { audit_retention_period: 1e9 },
      { agent_intervals: {} },
      { agent_intervals: [10, 10, 10] },
      { agent_intervals: { ping: 30, exchange: 900 } },
      { agent_intervals: { ping: 9, urgent_exchange: 60, exchange: 900 } },
      { agent_intervals: { ping: 30, urgent_exchange: 10.5, exchange: 900 } },
      { agent_intervals: { ping: 30, urgent_exchange: '60', exchange: 900 } },
      { agent_intervals: { ping: 30, urgent_exchange: null, exchange: 900 } },
      { agent_intervals: { ping: 30, urgent_exchange: 60, exchange: 86_401 } },
      { agent_intervals: { ping: 30, urgent_exchange: 60, exchange: 900, retry: 60 } },
    ];
    for (const body of bad) {
      expect((await change({ title: 'Changed', ...body })).body, JSON.stringify(body)).toMatchObject({
        error: 'InvalidParameter',
      });
    }
    expect(await read()).toEqual(before);
  });

  it('MASS-assign, PROTO: rejects keys that it does not take', async () => {
    const before = await read();
    const raw = `{"name": "x", "id": 1, "disabled": true, "max_message_backlog": 0, "token_epoch": 9, "account_id": 1,
      "__proto__": {"title": "x"}, "constructor": {"prototype": {"title": "x"}}}`;
    const response = await app.call('PATCH', '/preferences', { token, raw });
    expect(response.body).toMatchObject({ error: 'InvalidParameter', code: 400 });
    expect(response.body.details).toHaveLength(8);
    expect(await read()).toEqual(before);
    expect((await app.call('GET', '/person', { token })).status).toBe(200);
  });

  it('governs enrolment at once', async () => {
    expect(await enrol()).toBe('approved');
    await change({ registration_password: 'let me in' });
    expect(await enrol()).toBe('unknown-account');
    expect(await enrol('let me out')).toBe('unknown-account');
    expect(await enrol('let me in')).toBe('approved');
    await change({ auto_register_new_computers: false });
    expect(await enrol('let me in')).toBe('pending');
    await change({ registration_password: null, auto_register_new_computers: true });
    expect(await enrol()).toBe('approved');
  });
});
