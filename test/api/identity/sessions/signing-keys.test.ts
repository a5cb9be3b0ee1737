import jwt from 'jsonwebtoken';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../../../../src/process/config.ts';
import { createAdmin, createTestApp, JWT_SECRET, type TestApp } from '../../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/database.ts';

const NEWER = 'the next secret of the tests, which is long enough';

let database: TestDatabase;
const apps: TestApp[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  await createAdmin(database.persistence);
});
afterAll(async () => {
  for (const app of apps) await app.close();
  await database?.drop();
});

async function appWith(...jwtSecrets: string[]): Promise<TestApp> {
  const app = await createTestApp(database.persistence, { jwtSecrets });
  apps.push(app);
  return app;
}
const statusOf = async (app: TestApp, token: string) => (await app.call('GET', '/person', { token })).status;
const kidOf = (token: string) => jwt.decode(token, { complete: true })!.header.kid;

describe('secrets of tokens', () => {
  it('are replaced without ending a session: second, then first, then alone', async () => {
    const [before, prepared, swapped, after] = [
      await appWith(JWT_SECRET),
      await appWith(JWT_SECRET, NEWER),
      await appWith(NEWER, JWT_SECRET),
      await appWith(NEWER),
    ];
    const [old, fresh] = [await prepared.login(), await swapped.login()];
    expect(await Promise.all([before, prepared, swapped, after].map((app) => statusOf(app, old)))).toEqual([
      200, 200, 200, 401,
    ]);
    expect(await Promise.all([before, prepared, swapped, after].map((app) => statusOf(app, fresh)))).toEqual([
      401, 200, 200, 200,
    ]);
  });

  it('are named by the token, which reveals nothing about them', async () => {
    const [old, fresh] = [await (await appWith(JWT_SECRET)).login(), await (await appWith(NEWER)).login()];
    expect(kidOf(old)).toMatch(/^[\w-]{10}$/);
    expect(kidOf(old)).not.toBe(kidOf(fresh));
    expect(`${JWT_SECRET}${NEWER}`).not.toContain(kidOf(old));
  });

  it('all verify a token that names none, as those of older builds; a wrong name verifies nothing', async () => {
    const app = await appWith(NEWER, JWT_SECRET);
    const claims = jwt.decode(await app.login()) as object;
    for (const secret of [NEWER, JWT_SECRET]) {
      expect(await statusOf(app, jwt.sign(claims, secret))).toBe(200);
      expect(await statusOf(app, jwt.sign(claims, secret, { keyid: 'another' }))).toBe(401);
    }
    const swapped = jwt.sign(claims, JWT_SECRET, { keyid: kidOf(await app.login())! });
    expect(await statusOf(app, swapped)).toBe(401);
    expect(await statusOf(app, jwt.sign(claims, 'a third secret of nobody, which is long enough'))).toBe(401);
  });

  it('are read from one setting, newest first', () => {
    const read = (value: string) => loadConfig({ FLOTILLA_JWT_SECRET: value }, 'stack').jwtSecrets;
    const [a, b] = ['a'.repeat(32), 'b'.repeat(40)];
    expect(read(a)).toEqual([a]);
    expect(read(` ${a} `)).toEqual([` ${a} `]);
    expect(read(`${b}, ${a}`)).toEqual([b, a]);
    for (const wrong of ['short', `${a},short`, `${a},`, `${a},${a}`, `${a},${'b'.repeat(4097)}`]) {
      expect(() => read(wrong), wrong).toThrow(ConfigError);
      expect(() => read(wrong), wrong).toThrow(/FLOTILLA_JWT_SECRET must be different secrets of 32 to 4096/);
    }
  });
});
