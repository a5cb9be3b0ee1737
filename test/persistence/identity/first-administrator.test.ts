import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/process/config.ts';
import { prepareDatabase } from '../../../tools/stack/database/prepare-database.ts';
import type { StackSecrets } from '../../../tools/stack/secrets.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

const SECRETS: StackSecrets = {
  jwtSecret: 'x',
  encryptionKeys: 'x',
  databasePassword: 'x',
  superuserPassword: 'x',
  temporalDatabasePassword: 'x',
  codecToken: 'x',
  temporalUiToken: 'x',
};

let database: TestDatabase;
let directory: string;

beforeAll(async () => {
  database = await createTestDatabase();
  directory = await mkdtemp(join(tmpdir(), 'flotilla-first-'));
});

afterAll(async () => {
  await rm(directory, { recursive: true });
  await database?.drop();
});

const prepare = (env: Record<string, string>) =>
  prepareDatabase(
    database.url,
    loadConfig({ FLOTILLA_SIMULATED_COMPUTERS: '0', ...env }, 'stack'),
    SECRETS,
    join(directory, 'secrets.json'),
  );
const people = () => database.persistence.db.query('select email from person');

describe('the first administrator', () => {
  it.each([
    ['eleven char', 'FLOTILLA_ADMIN_PASSWORD must have 12 to 128 characters'],
    ['x'.repeat(129), 'FLOTILLA_ADMIN_PASSWORD must have 12 to 128 characters'],
    ['Administrator1', 'FLOTILLA_ADMIN_PASSWORD is too common'],
  ])('is not made with the password %s', async (password, message) => {
    await expect(prepare({ FLOTILLA_ADMIN_PASSWORD: password })).rejects.toThrow(message);
    expect(await people()).toEqual([]);
  });

  it('gets a password as long as the deployment wants it, and later a setting that is short rejects nothing', async () => {
    const made = await prepare({ FLOTILLA_PASSWORD_MIN_LENGTH: '40', FLOTILLA_ADMIN_EMAIL: ' First@Fleet.example ' });
    expect(made.administrator?.generatedPassword).toHaveLength(40);
    expect(await people()).toEqual([{ email: 'First@Fleet.example' }]);
    expect(await prepare({ FLOTILLA_ADMIN_PASSWORD: 'short' })).toEqual({
      administrator: null,
      registrationKey: null,
    });
  });
});
