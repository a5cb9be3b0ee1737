import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount, createGroup } from '../../../tools/harness/accounts.ts';
import { createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let app: TestApp;
let admin: string;
let accountId: number;
const ids: Record<string, number> = {};

beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database.persistence;
  ({ accountId } = await createAdmin(database.persistence));
  await createGroup(db, accountId, 'servers');
  await createGroup(db, accountId, 'databases', 'servers');
  const other = await createAccount(db, 'other');
  app = await createTestApp(database.persistence);
  admin = await app.login();
  const add = async (title: string, seed: object = {}) => {
    ids[title] = await insertComputer(db, { accountId, title, ...seed });
  };
  await add('web', { group: 'servers', tags: ['web', 'lab'] });
  await add('Db 100%', { group: 'databases', tags: ['db'] });
  await add('mail_1', {});
  await add('mailx1', {});
  await insertComputer(db, { accountId: other.accountId, title: 'web', tags: ['web'] });
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const search = (query: string) => app.call('GET', `/computers?query=${encodeURIComponent(query)}`, { token: admin });
const titles = async (query: string) => {
  const { status, body } = await search(query);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.count).toBe(body.results.length);
  return body.results.map((computer: { title: string }) => computer.title);
};

describe('GET /computers?query=', () => {
  it('finds by keyword, tag, id and access group', async () => {
    expect(await titles('WEB')).toEqual(['web']);
    expect(await titles('tag:web')).toEqual(['web']);
    expect(await titles('tag: db')).toEqual(['Db 100%']);
    expect(await titles(`id:${ids['mail_1']}`)).toEqual(['mail_1']);
    expect(await titles('access-group:servers')).toEqual(['web']);
    expect(await titles('access-group-recursive:servers')).toEqual(['web', 'Db 100%']);
    expect(await titles('title:"db 100%"')).toEqual(['Db 100%']);
  });

  it('binds NOT, then OR, then AND', async () => {
    expect(await titles('mail tag:web OR tag:db')).toEqual([]);
    expect(await titles('tag:web OR tag:db')).toEqual(['web', 'Db 100%']);
    expect(await titles('NOT tag:web OR tag:lab')).toEqual(['web', 'Db 100%', 'mail_1', 'mailx1']);
    expect(await titles('NOT mail AND NOT tag:web')).toEqual(['Db 100%']);
  });

  it('accepts the deprecated name of USG profiles with a deprecation header', async () => {
    expect((await search('profile:usg:1:pass')).headers.get('deprecation')).toBeNull();
    expect((await search('profile:security:1:pass')).headers.get('deprecation')).toMatch(/^@\d{10}$/);
  });

  it('LIKE-wild: takes %, _ and \\ for themselves', async () => {
    expect(await titles('%')).toEqual(['Db 100%']);
    expect(await titles('_')).toEqual(['mail_1']);
    expect(await titles('mail_1')).toEqual(['mail_1']);
    expect(await titles('\\')).toEqual([]);
    const { db } = database.persistence;
    await db.query(
      `insert into computer_network (computer_id, interface, ip_address, mac_address, broadcast_address, netmask, flags, active)
       values ($1, 'eth0', '10.0.0.1', '00:16:3e:AA:bb:01', '', '', 0, false), ($1, 'eth1', '10_0.1', '%', '', '', 1, true)`,
      [ids['web']],
    );
    expect(await titles('ip:0.0.1 mac:3E:aa:BB')).toEqual(['web']);
    for (const none of ['ip:10.%.1', 'ip:0_0_', 'ip:00', 'mac:00_16', 'mac:\\'])
      expect(await titles(none), none).toEqual([]);
    expect(await titles('ip:_0. mac:%')).toEqual(['web']);
    for (const none of ['hostname:web%', 'title:mail_', 'tag:we_']) expect(await titles(none), none).toEqual([]);
  });

  it('SQLI-query: finds nothing or rejects, in every selector', async () => {
    const before = (await search('')).body.count;
    const selectors = `tag distribution hostname title alert access-group access-group-recursive id mac ip search needs
      license-id annotation annotation:key profile profile:usg profile:wsl:1 release-upgrade license-type contract
      contract-expires-within-days license-expires-within-days has-pro-management has instance-id availability-zone`;
    const attacks = [
      `'`,
      `' OR 1=1 --`,
      ';drop table computer',
      '--',
      '/*',
      '\\',
      '%00',
      '$$',
      'ʼ OR ʼ1ʼ=ʼ1',
      '1 UNION SELECT 1',
    ];
    for (const selector of selectors.split(/\s+/)) {
      for (const attack of attacks) {
        const { status, body } = await search(`${selector}:"${attack}"`);
        expect([200, 400], `${selector}:${attack}`).toContain(status);
        expect(status === 200 ? body.count : body.error).toBe(status === 200 ? 0 : 'InvalidQueryError');
      }
    }
    expect((await app.call('GET', '/computers?query=tag:a%00', { token: admin })).status).toBe(400);
    expect((await search('')).body.count).toBe(before);
  });

  it('QUERY-badsel: rejects with the place and what was expected', async () => {
    const response = await search('web id:abc');
    expect([response.status, response.body]).toEqual([
      400,
      {
        error: 'InvalidQueryError',
        message: 'The query is invalid at character 5: expected a non-negative integer after id:',
        code: 400,
        details: [
          { path: 'query.query', position: 5, message: 'character 5: expected a non-negative integer after id:' },
        ],
      },
    ]);
    const bad = [
      'alert:nope',
      'license-expires-within-days:1e99',
      'OR',
      'web OR',
      'NOT',
      'nope:1',
      '"web',
      'search:none',
    ];
    for (const query of bad)
      expect((await search(query)).body, query).toMatchObject({ error: 'InvalidQueryError', code: 400 });
    expect(await titles('web or mail')).toEqual([]);
  });

  it('QUERY-deep: rejects long texts and accepts large ones below the limits', async () => {
    for (const query of ['NOT '.repeat(2100), 'a '.repeat(201), 'x'.repeat(8193)]) {
      expect((await search(query)).body).toMatchObject({ error: 'InvalidQueryError', code: 400 });
    }
    expect((await search('x'.repeat(1_000_000))).status).toBeGreaterThanOrEqual(400);
    expect(await titles(`tag:web${' OR tag:web'.repeat(199)}`)).toEqual(['web']);
    expect(await titles(`${'NOT '.repeat(2000)}tag:web`)).toEqual(['web']);
    const selectors = ['ip:1', 'alert:computer-offline', 'profile:wsl:1:compliant', 'contract-expires-within-days:9'];
    const mixed = Array.from({ length: 200 }, (_, place) => `NOT ${selectors[place % 4]}`);
    expect((await search(mixed.join(' '))).status).toBe(200);
    expect((await search(mixed.join(' OR '))).status).toBe(200);
  });

  it('ID-bad: never slips to a neighbouring id', async () => {
    const id = ids['web']!;
    for (const text of ['0', String(2 ** 32 + id), '9007199254740993', '9223372036854775808', '9'.repeat(300)]) {
      expect(await titles(`id:${text}`), text).toEqual([]);
    }
    for (const text of ['-1', '1e400', '1 OR 1=1', '١٢٣', `${id}.0`, `+${id}`]) {
      expect((await search(`id:"${text}"`)).body.error, text).toBe('InvalidQueryError');
    }
  });
});
