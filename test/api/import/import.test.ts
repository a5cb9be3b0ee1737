import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { importDocument } from '../../../src/services/import/import.service.ts';
import { ImportError, readImportDocument } from '../../../src/services/import/read-document.ts';
import { createAccount } from '../../../tools/harness/accounts.ts';
import { createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase, untilBlocked } from '../../support/database/database.ts';
import { lockImports } from '../../../src/persistence/import/import.sql.ts';

let database: TestDatabase;
let app: TestApp;
let admin: string;
let accountId: number;
const ids: Record<string, number> = {};
const EXAMPLE = new URL('../../fixtures/import.example.json', import.meta.url);

beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database.persistence;
  ({ accountId } = await createAdmin(database.persistence));
  app = await createTestApp(database.persistence);
  admin = await app.login();
  for (const title of ['web-1', 'host', 'bare', 'twin', 'twin']) {
    ids[title] = await insertComputer(db, { accountId, title });
  }
  ids['archived'] = await insertComputer(db, { accountId, title: 'archived', archived: true });
  const other = await createAccount(db, 'other');
  ids['foreign'] = await insertComputer(db, { accountId: other.accountId, title: 'foreign' });
  await db.query(`insert into legacy_license (id, account_id) values (900, $1)`, [other.accountId]);
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

beforeEach(async () => {
  await database.persistence.db.query('delete from legacy_license where account_id = $1', [accountId]);
  await database.persistence.db.query('delete from contract');
  await database.persistence.db.query('delete from profile');
});

const take = async (document: unknown) =>
  importDocument(
    database.persistence.db,
    readImportDocument(typeof document === 'string' ? document : JSON.stringify(document)),
  );
const found = async (query: string) =>
  (await app.call('GET', `/computers?query=${encodeURIComponent(query)}`, { token: admin })).body.results.map(
    (computer: { id: number }) => computer.id,
  );
const stored = async () => {
  const [row] = await database.persistence.db.query<{ text: string }>(
    `select jsonb_build_array(
       (select jsonb_agg(to_jsonb(l) order by id) from legacy_license l), (select jsonb_agg(to_jsonb(c)) from contract c),
       (select jsonb_agg(to_jsonb(p) order by type, id) from profile p), (select jsonb_agg(to_jsonb(m) order by computer_id) from computer_license m),
       (select jsonb_agg(to_jsonb(m) order by computer_id) from computer_contract m),
       (select jsonb_agg(to_jsonb(m) order by computer_id, type) from computer_profile m))::text as text`,
  );
  return row!.text;
};
/** What is wrong with a document, as `path message`; nothing may have been stored. */
async function problems(document: unknown): Promise<string[]> {
  const before = await stored();
  const error = await take(document).catch((rejection: unknown) => rejection);
  expect(await stored()).toBe(before);
  if (!(error instanceof ImportError)) throw new Error('it was taken in');
  return error.problems.map(({ path, message }) => `${path} ${message}`);
}

describe('npm run import', () => {
  it('takes the example in, where queries find it, and again without a change', async () => {
    const text = readFileSync(EXAMPLE, 'utf8');
    expect(await take(text)).toEqual({ account: 'standalone', licenses: 1, contracts: 1, profiles: 2, computers: 3 });
    const { 'web-1': web, host } = ids as { 'web-1': number; host: number };
    expect(await found('license-id:7')).toEqual([web]);
    expect(await found('contract:cA-support')).toEqual([web]);
    expect(await found('profile:package:1')).toEqual([web]);
    expect(await found('profile:wsl:1:noncompliant')).toEqual([host]);
    expect(await found('alert:child-instance-profiles')).toEqual([host]);
    const once = await stored();
    await take(text);
    expect(await stored()).toBe(once);
    const { results } = (await app.call('GET', '/events?search=imported', { token: admin })).body;
    expect(results[0]).toMatchObject({ entity_type: 'Account', person_id: null, person_name: 'npm run import' });
  });

  it('replaces what it names and leaves the rest', async () => {
    await take(readFileSync(EXAMPLE, 'utf8'));
    await take({
      profiles: [
        { type: 'wsl', id: 1, name: 'other', title: 'T' },
        { type: 'wsl', id: 2, name: 'dev-instances' },
      ],
      computers: [
        { id: ids['web-1'], license: null, profiles: [] },
        {
          id: ids['host'],
          profiles: [
            { type: 'wsl', id: 1, status: 'compliant' },
            { type: 'wsl', id: 2 },
          ],
        },
      ],
      account: 'standalone',
    });
    expect(await found('license-id:7')).toEqual([]);
    expect(await found('profile:package:1')).toEqual([]);
    expect(await found('contract:cA-support')).toEqual([ids['web-1']]);
    expect(await found('profile:wsl:1:compliant')).toEqual([ids['host']]);
    expect(await found('profile:wsl:2')).toEqual([ids['host']]);
    const swapped = [
      { type: 'wsl', id: 1, name: 'dev-instances' },
      { type: 'wsl', id: 2, name: 'other' },
    ];
    expect(await take({ account: 'standalone', profiles: swapped })).toMatchObject({ profiles: 2 });
  });

  it('names every wrong place of the form at once', async () => {
    expect(
      await problems({
        licenses: [{ id: 0, expires: 'soon' }, { id: 1 }, 7],
        contracts: [{ id: ' ' }, { id: 'x', free: 'no', colour: 'red' }],
        profiles: [{ type: 'script', id: 1, name: 'a' }],
        computers: [
          {},
          { id: 1, hostname: 'x' },
          { id: 1, profiles: [{ type: 'reboot', id: 1, status: 'compliant' }] },
        ],
        extra: 1,
      }),
    ).toEqual([
      'extra is unknown here; known are account, licenses, contracts, profiles, computers',
      'licenses[0].id must be an integer from 1 to 2147483647',
      'licenses[0].expires must be an ISO 8601 date and time, or null',
      'licenses[2] must be an object',
      'contracts[0].id must be one line of 1 to 255 characters',
      'contracts[1].colour is unknown here; known are id, title, free, expires',
      'contracts[1].free must be true or false',
      'profiles[0].type must be one of repository, package, upgrade, reboot, removal, wsl',
      'computers[0] must have either id or hostname',
      'computers[1] must have either id or hostname',
      'computers[2].profiles[0].status is for profiles of the types wsl and package only',
    ]);
    expect(await problems({ licenses: [{}], profiles: [{ type: 'wsl', id: 1 }] })).toEqual([
      'licenses[0].id is missing',
      'profiles[0].name is missing',
    ]);
    for (const text of ['', '[', '[]', 'null', '7', '"x"']) expect(await problems(text)).toHaveLength(1);
    const nul = { licenses: [{ id: 1, title: 'a\u0000b' }], contracts: [{ id: '\ud800' }] };
    expect(await problems(nul)).toHaveLength(2);
  });

  it('names every place that does not fit what is stored, and stores nothing of the rest', async () => {
    await take({ account: 'standalone', profiles: [{ type: 'package', id: 5, name: 'held' }] });
    expect(
      await problems({
        account: 'standalone',
        licenses: [{ id: 8 }, { id: 900 }],
        profiles: [{ type: 'package', id: 6, name: 'held' }],
        computers: [
          { hostname: 'TWIN.fleet.example' },
          { id: ids['archived'] },
          { id: ids['foreign'] },
          { hostname: 'nowhere' },
          { id: ids['web-1'], license: 9, contracts: ['c'], profiles: [{ type: 'package', id: 7 }] },
          { hostname: 'Web-1.fleet.example' },
        ],
      }),
    ).toEqual([
      'licenses[1].id is already taken',
      'computers[4].license names no licence; there is no 9',
      'computers[4].contracts[0] names no contract; there is no "c"',
      'profiles[0].name is that of the package profile 5',
      'computers[4].profiles[0] names no profile; there is no package profile 7',
      'computers[0].hostname is that of 2 computers; name the id instead',
      'computers[1] names no computer of the fleet',
      'computers[2] names no computer of the fleet',
      'computers[3] names no computer of the fleet',
      'computers[5] names the computer of an earlier one',
    ]);
    expect(await problems({ account: 'nobody' })).toEqual(['account must be an account; there is no "nobody"']);
    expect(await problems({})).toEqual(['account is missing, and there is not exactly one account']);
    const titled = (title: string) => ({ account: 'standalone', licenses: [{ id: 902, title }] });
    expect(await problems(titled('😀'.repeat(256)))).toHaveLength(1);
    expect(await take(titled('😀'.repeat(255)))).toMatchObject({ licenses: 1 });
    const repeated = { account: 'standalone', contracts: [{ id: 'a' }, { id: 'a' }] };
    expect(await problems(repeated)).toEqual(['contracts[1] repeats the id of an earlier one']);
  });

  it('takes nothing of another account, also where both come at once', async () => {
    const { db } = database.persistence;
    let second: Promise<unknown> | undefined;
    await db.transaction(async (tx) => {
      await lockImports(tx);
      second = take({ account: 'standalone', licenses: [{ id: 901, title: 'ours' }] }).catch((error: unknown) => error);
      await untilBlocked(db);
      await tx.query(
        `insert into legacy_license (id, account_id, title) select 901, id, 'theirs' from account where name = 'other'`,
      );
    });
    expect(await second!).toBeInstanceOf(ImportError);
    expect(await db.query('select title from legacy_license where id = 901')).toEqual([{ title: 'theirs' }]);
  });

  it('PROTO: keys of every object are unknown keys', async () => {
    expect(await problems('{"__proto__": {"account": "standalone"}, "constructor": 1}')).toHaveLength(2);
    expect(({} as Record<string, unknown>)['account']).toBeUndefined();
  });

  it('prints on the command line what it did, or what is wrong', () => {
    const folder = mkdtempSync(join(tmpdir(), 'import-'));
    const run = (content: string | null) => {
      const file = join(folder, 'file.json');
      if (content !== null) writeFileSync(file, content);
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ['tools/stack/import-main.ts', content === null ? join(folder, 'none.json') : file],
        { env: { ...process.env, FLOTILLA_DATABASE_URL: database.url }, encoding: 'utf8' },
      );
      return { status, stdout, stderr };
    };
    expect(run('{"account": "standalone", "contracts": [{"id": "c"}]}')).toEqual({
      status: 0,
      stdout: 'Imported into the account standalone: 0 licences, 1 contracts, 0 profiles, 0 computers.\n',
      stderr: '',
    });
    expect(run('{"account": 7}')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: 'Nothing was imported:\n  account must be one line of 1 to 255 characters\n',
    });
    expect(run(null)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('cannot be read: ENOENT'),
    });
  });
});
