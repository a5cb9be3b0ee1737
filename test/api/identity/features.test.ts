import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Config, loadConfig } from '../../../src/process/config.ts';
import { createAdmin, createTestApp, PUBLIC_URL, type TestAppOptions } from '../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  await createAdmin(database.persistence);
});
afterAll(() => database?.drop());

const call = (query: string, options: TestAppOptions = {}) => read(`/features${query}`, options);

async function read(path: string, options: TestAppOptions) {
  const app = await createTestApp(database.persistence, options);
  try {
    return await app.call('GET', path, { token: await app.login() });
  } finally {
    await app.close();
  }
}

async function enabled(options: TestAppOptions): Promise<string[]> {
  const { body } = await call('', options);
  return body.results.flatMap((feature: { key: string; enabled: boolean }) => (feature.enabled ? [feature.key] : []));
}

const identity = (env: Record<string, string>): Partial<Config> => ({ identity: loadConfig(env, 'stack').identity });

describe('GET /features', () => {
  it('lists flags in the paginated envelope', async () => {
    const { status, body } = await call('');
    expect(status).toBe(200);
    expect(body).toMatchObject({ count: body.results.length, next: null, previous: null });
    expect(body.results).toContainEqual({
      key: 'script-profiles',
      name: 'Script profiles',
      description: expect.any(String),
      enabled: true,
      details: { configuration: true },
    });
    const keys = body.results.map(({ key }: { key: string }) => key);
    expect(keys).toEqual([...new Set(keys)].toSorted());
    const page = (await call('?limit=2&offset=2')).body;
    expect(page.results).toEqual(body.results.slice(2, 4));
    expect(page.next).toBe(`${PUBLIC_URL}/api/v2/features?limit=2&offset=4`);
  });

  it('follows the deployment', async () => {
    expect(await enabled({ deployment: 'standalone' })).toEqual(['script-profiles', 'usg-profiles']);
    expect(await enabled({ deployment: 'saas' })).toEqual(['self-service-account-creation', 'usg-profiles']);
  });

  it('follows the settings', async () => {
    expect(await enabled({ settings: { smtpUrl: 'smtp://127.0.0.1:1' } })).toContain('mail');
    expect(await enabled({ settings: identity({ FLOTILLA_PAM_SERVICE: 'login' }) })).toContain('pam-login');
    const own = identity({ FLOTILLA_SELF_SERVICE_ACCOUNTS: 'true' });
    expect(await enabled({ settings: own })).toContain('self-service-account-creation');
  });
});

describe('GET /server', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const facts = async (env: Record<string, string>) => {
    const { temporalUiUrl } = loadConfig(env, 'stack');
    return (await read('/server', { settings: { temporalUiUrl } })).body;
  };

  it('shows the version, and no Temporal UI where none is set', async () => {
    expect(await facts({})).toEqual({ version, temporal_ui_url: null });
  });

  it('shows the address of the Temporal UI', async () => {
    const url = 'https://temporal.example/namespaces/fleet/workflows';
    for (const set of [url, `${url}/`]) {
      expect(await facts({ FLOTILLA_TEMPORAL_UI_URL: set })).toEqual({ version, temporal_ui_url: url });
    }
  });
});
