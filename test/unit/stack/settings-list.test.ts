import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/process/config.ts';
import { SECRET_SETTINGS } from '../../../src/process/secret-files.ts';
import { checkPorts } from '../../../tools/stack/preflight.ts';

const read = (file: string) => readFile(join(import.meta.dirname, '../../..', file), 'utf8');

/** Names of the settings that the configuration reads. */
async function readSettings(): Promise<string[]> {
  const text = `${await read('src/process/config.ts')}${await read('src/process/identity-settings.ts')}`;
  return [...text.matchAll(/(?<=read\.\w+\(')FLOTILLA_\w+/g)].map(String);
}

describe('README.md', () => {
  it('names every setting that people make', async () => {
    const named = new Set((await read('README.md')).match(/FLOTILLA_\w+/g));
    const missing = (await readSettings()).filter((name) => !named.has(name));
    expect(missing).toEqual(['FLOTILLA_EMBEDDED']);
  });
});

describe('.env.example', () => {
  it('lists every setting of the configuration', async () => {
    const files = SECRET_SETTINGS.map((name) => `${name}_FILE`);
    const known = new Set([...(await readSettings()), ...files]);
    const listed = new Set((await read('.env.example')).match(/^FLOTILLA_\w+/gm));
    expect([...known].filter((name) => !listed.has(name))).toEqual([]);
    const ofTheFile = (await read('docker-compose.yml')).match(/(?<=\$\{)FLOTILLA_\w+(?=:-)/g)!;
    const others = [...listed].filter((name) => !known.has(name));
    expect(others.toSorted()).toEqual(
      ['FLOTILLA_TEST_SERVER_BIN', ...new Set(ofTheFile.filter((name) => !known.has(name)))].toSorted(),
    );
  });

  it('tells the bounds of whole numbers as they are', async () => {
    const lines = (await read('.env.example')).split('\n');
    const bounded = lines.flatMap((line, index) => {
      const bounds = /\((\d+) to (\d+)\)/.exec(line);
      const name = /^#? ?(FLOTILLA_\w+)=/.exec(lines[index + 1] ?? '')?.[1];
      return bounds && name ? [{ name, least: Number(bounds[1]), most: Number(bounds[2]) }] : [];
    });
    expect(bounded.map(({ name }) => name)).toContain('FLOTILLA_DATABASE_POOL_SIZE');
    for (const { name, least, most } of bounded) {
      for (const value of [least, most]) expect(() => loadConfig({ [name]: String(value) }, 'stack')).not.toThrow();
      for (const value of [least - 1, most + 1]) {
        expect(() => loadConfig({ [name]: String(value) }, 'stack')).toThrow(name);
      }
    }
  });

  it('shows the defaults', async () => {
    const example = await read('.env.example');
    const env = Object.fromEntries(
      [...example.matchAll(/^(FLOTILLA_\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
    );
    expect(loadConfig(env, 'stack')).toEqual(loadConfig({}, 'stack'));
  });
});

describe('checkPorts', () => {
  it('names the setting of metrics that would take the port of something else', async () => {
    const config = loadConfig({ FLOTILLA_PORT: '45681', FLOTILLA_METRICS_PORT: '45681' }, 'stack');
    await expect(checkPorts(config)).rejects.toThrow(/FLOTILLA_METRICS_PORT: port 45681 is also FLOTILLA_PORT/);
  });

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
