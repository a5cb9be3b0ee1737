import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/process/config.ts';
import { SETTINGS } from '../../../src/process/settings.ts';
import { CONTAINER_VARIABLES, TRACING_VARIABLES } from '../../../tools/docs/foreign-variables.ts';
import { renderEnvExample, renderSettingTables } from '../../../tools/docs/render-settings.ts';
import { replaceSection } from '../../../tools/docs/section.ts';

const read = (file: string) => readFileSync(file, 'utf8');

describe('docs/settings.md and .env.example', () => {
  it('are what npm run generate makes of the declaration', () => {
    const page = read('docs/settings.md');
    expect(page).toBe(replaceSection(page, 'settings', renderSettingTables()));
    expect(read('.env.example')).toBe(renderEnvExample());
  });

  it('show the defaults', () => {
    const assignments = [...read('.env.example').matchAll(/^(FLOTILLA_\w+)=(.*)$/gm)];
    const env = Object.fromEntries(assignments.map(([, name, value]) => [name, value]));
    expect(Object.keys(env)).toEqual(expect.arrayContaining(Object.keys(SETTINGS)));
    expect(loadConfig(env, 'stack')).toEqual(loadConfig({}, 'stack'));
  });

  it('have every variable of docker-compose.yml', () => {
    const compose = read('docker-compose.yml');
    const documented = new Set([
      ...Object.keys(SETTINGS),
      ...[...CONTAINER_VARIABLES, ...TRACING_VARIABLES].map(({ name }) => name),
    ]);
    const handedOn = compose.match(/(?<=\$\{)\w+(?=:-)|\bOTEL_\w+/g)!;
    expect(handedOn.filter((name) => !documented.has(name))).toEqual([]);
    expect(TRACING_VARIABLES.filter(({ name }) => !handedOn.includes(name))).toEqual([]);
  });
});

describe('loadConfig', () => {
  const documented = renderSettingTables().matchAll(/`(\w+)` \| whole number, (\d+) to (\d+)/g);
  const bounded = [...documented].map(([, name = '', min, max]) => ({ name, min: Number(min), max: Number(max) }));

  it.each(bounded)('takes $name from $min to $max', ({ name, min, max }) => {
    // The largest minimum of a batch needs a maximum as large, and the least maximum a minimum as small.
    const others = { FLOTILLA_BATCH_MIN_SIZE: '1', FLOTILLA_BATCH_MAX_SIZE: '100000' };
    const load = (value: number) => loadConfig({ ...others, [name]: String(value) }, 'stack');
    for (const value of [min, max]) expect(() => load(value)).not.toThrow();
    for (const value of [min - 1, max + 1]) {
      expect(() => load(value)).toThrow(`${name} must be a whole number from ${min} to ${max}`);
    }
  });

  it('takes the former name of a setting where its name is absent or empty', () => {
    const former = { FLOTILLA_LANE_MIN_SIZE: '7' };
    expect(loadConfig(former, 'stack').activities.batchMinSize).toBe(7);
    expect(loadConfig({ ...former, FLOTILLA_BATCH_MIN_SIZE: '' }, 'stack').activities.batchMinSize).toBe(7);
    expect(loadConfig({ ...former, FLOTILLA_BATCH_MIN_SIZE: '9' }, 'stack').activities.batchMinSize).toBe(9);
  });
});
