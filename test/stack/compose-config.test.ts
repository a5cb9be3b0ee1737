import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMPOSE_FILE, composeText, findComposeCheck } from '../support/stack/deploy-files.ts';

const check = await findComposeCheck().catch((error: Error) => {
  console.warn(`docker-compose.yml is not checked: ${error.message}`);
  return null;
});

describe.skipIf(check === null)('docker compose config', () => {
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'flotilla-compose-'));
  });

  afterAll(() => rm(directory, { recursive: true }));

  it('accepts docker-compose.yml', () => expect(check!(COMPOSE_FILE)).resolves.toBeUndefined());

  it.each([
    ['a service that is not there', /^(\s+)postgres: \{ condition/m, '$1postgrez: { condition'],
    ['a key that is none', /^ {4}stop_grace_period: 60s$/m, '    stop_grace_perid: 60s'],
    ['a secret that is not declared', /secrets: \[postgres_password\]/, 'secrets: [postgres_pasword]'],
    ['a network that is not declared', /networks: \[temporal, edge\]/, 'networks: [temporal, egde]'],
    ['a volume that is not declared', /^ {6}- postgres:/m, '      - postgrs:'],
    ['a wrong condition', /service_healthy/, 'service_health'],
  ])('rejects %s', async (_what, pattern, planted) => {
    const broken = composeText.replace(pattern, planted);
    expect(broken).not.toBe(composeText);
    const file = join(directory, 'docker-compose.yml');
    await writeFile(file, broken);
    await expect(check!(file)).rejects.toThrow();
  });
});
