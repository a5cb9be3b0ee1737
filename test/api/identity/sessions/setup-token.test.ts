import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logSetupToken } from '../../../../src/api/identity/first-account.ts';
import { loadConfig } from '../../../../src/process/config.ts';
import type { Logger } from '../../../../src/process/logger.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { ADMIN, createTestApp, type TestApp } from '../../../support/http/app.ts';

let database: TestDatabase;
const apps: TestApp[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(async () => {
  for (const app of apps) await app.close();
  await database?.drop();
});

/** An API as it starts with these settings, and what it wrote into its log about the first account. */
async function anApi(settings: Record<string, string>) {
  const { identity } = loadConfig(settings, 'stack');
  const app = await createTestApp(database.persistence, { settings: { identity } });
  apps.push(app);
  const lines: string[] = [];
  const logger = { warn: (line: string) => lines.push(line) } as unknown as Logger;
  await logSetupToken(app.services.accounts, logger);
  const create = (setup_token?: string) =>
    app.call('POST', '/standalone-account', { body: { ...ADMIN, ...(setup_token !== undefined && { setup_token }) } });
  return { app, lines, create };
}

const OPEN = { FLOTILLA_HOST: '0.0.0.0' };

describe('the first account of a server that listens beyond its own machine', () => {
  it('is made with the token that the first API wrote into its log, and by nobody else', async () => {
    const apis = await Promise.all([anApi(OPEN), anApi(OPEN), anApi(OPEN)]);
    const lines = apis.flatMap((api) => api.lines);
    expect(lines).toHaveLength(1);
    const token = /setup token (\S{24})$/.exec(lines[0]!)?.[1] ?? '';
    expect((await anApi(OPEN)).lines).toEqual([]);
    const [stored] = await database.persistence.db.query<{ text: string }>(
      'select string_agg(value, $1) as text from system_setting',
      [' '],
    );
    expect(stored!.text).not.toContain(token);

    const [, other] = apis;
    for (const wrong of [undefined, '', `${token}x`, token.toLowerCase()]) {
      const response = await other!.create(wrong);
      expect([response.status, response.body.error]).toEqual([403, 'Forbidden']);
    }
    expect((await other!.app.call('GET', '/standalone-account')).body).toEqual({ exists: false });
    expect((await other!.create(token)).status).toBe(201);
    expect((await other!.create(token)).body.error).toBe('StandaloneAccountExists');
    const left = await database.persistence.db.query(`select from system_setting where key like 'setup%'`);
    expect(left).toEqual([]);
    expect((await anApi(OPEN)).lines).toEqual([]);
  });

  it('is made with the token of the settings where there is one', async () => {
    await database.persistence.db.query('truncate account, person restart identity cascade');
    const { lines, create } = await anApi({ ...OPEN, FLOTILLA_SETUP_TOKEN: 'a-token-of-the-operator' });
    expect(lines).toEqual([]);
    expect((await create('another-token-of-an-operator')).status).toBe(403);
    expect((await create('a-token-of-the-operator')).status).toBe(201);
  });

  it.each<Record<string, string>>([{}, { FLOTILLA_HOST: '::1' }, { ...OPEN, FLOTILLA_SETUP_TOKEN: 'none' }])(
    'needs no token with %j',
    async (settings) => {
      await database.persistence.db.query('truncate account, person restart identity cascade');
      const { lines, create } = await anApi(settings);
      expect(lines).toEqual([]);
      expect((await create()).status).toBe(201);
    },
  );

  it('rejects a token of the settings that is easily guessed', () => {
    for (const value of ['short', 'with spaces in between']) {
      expect(() => loadConfig({ FLOTILLA_SETUP_TOKEN: value }, 'stack')).toThrow('FLOTILLA_SETUP_TOKEN');
    }
  });
});
