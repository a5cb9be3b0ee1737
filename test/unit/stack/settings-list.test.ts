import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config.ts';
import { SECRET_SETTINGS } from '../../../src/secret-files.ts';
import { checkPorts } from '../../../src/stack/preflight.ts';

const PROJECT = join(import.meta.dirname, '../../..');

describe('.env.example', () => {
  it('lists every setting of the configuration', async () => {
    const [code, example] = await Promise.all(
      ['src/config.ts', '.env.example'].map((file) => readFile(join(PROJECT, file), 'utf8')),
    );
    const files = SECRET_SETTINGS.map((name) => `${name}_FILE`);
    const known = new Set([...code!.matchAll(/(?<=read\.\w+\(')FLOTILLA_\w+/g)].map(String).concat(files));
    const listed = new Set(example!.match(/^FLOTILLA_\w+/gm));
    expect([...known].filter((name) => !listed.has(name))).toEqual([]);
    expect([...listed].filter((name) => !known.has(name))).toEqual(['FLOTILLA_TEST_SERVER_BIN']);
  });

  it('shows the defaults', async () => {
    const example = await readFile(join(PROJECT, '.env.example'), 'utf8');
    const env = Object.fromEntries(
      [...example.matchAll(/^(FLOTILLA_\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
    );
    expect(loadConfig(env, 'stack')).toEqual(loadConfig({}, 'stack'));
  });
});

describe('checkPorts', () => {
  it('names every setting whose port is given twice', async () => {
    const config = loadConfig(
      {
        FLOTILLA_PORT: '45671',
        FLOTILLA_TEMPORAL_PORT: '45671',
        FLOTILLA_TEMPORAL_UI_PORT: '45671',
        FLOTILLA_DATABASE_PORT: '45673',
      },
      'stack',
    );
    await expect(checkPorts(config)).rejects.toThrow(
      /FLOTILLA_TEMPORAL_PORT: port 45671 is also FLOTILLA_PORT[\s\S]*FLOTILLA_TEMPORAL_UI_PORT/,
    );
  });
});
