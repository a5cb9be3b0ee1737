import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  readServers,
  serverFilePath,
  withoutServer,
  withServer,
  writeServers,
} from '../../../../packages/cli/src/servers/server-file.ts';
import { configuration } from '../../../support/cli/in-process.ts';

const lab = { name: 'lab', url: 'http://lab.example', email: 'ada@lab.example', token: 'secret-of-lab' };
const fleet = { name: 'fleet', url: 'https://fleet.example', email: 'ada@fleet.example', token: 'secret-of-fleet' };
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

describe('the file of logins', () => {
  it('lies below XDG_CONFIG_HOME if that is absolute, else below the home directory', () => {
    expect(serverFilePath({ XDG_CONFIG_HOME: '/etc/xdg' })).toBe('/etc/xdg/flotilla/servers.json');
    expect(serverFilePath({ XDG_CONFIG_HOME: 'relative' })).toMatch(/^\/.*\/\.config\/flotilla\/servers\.json$/);
  });

  it('is readable by its owner alone, also if it was not before', async () => {
    const { file } = await configuration();
    await writeServers(file, withServer({ current: null, servers: [] }, lab));
    expect([await modeOf(file), await modeOf(dirname(file))]).toEqual(['600', '700']);
    await chmod(file, 0o644);
    await writeServers(file, withServer(await readServers(file), fleet));
    expect(await modeOf(file)).toBe('600');
    expect(await readServers(file)).toEqual({ current: 'fleet', servers: [fleet, lab] });
  });

  it('is whole at any moment while it is replaced, and nothing else is left behind', async () => {
    const { file } = await configuration();
    await writeServers(file, { current: null, servers: [lab] });
    let isDone = false;
    const reading = (async () => {
      let reads = 0;
      for (; !isDone; reads += 1) expect((await readServers(file)).servers.length).toBeGreaterThan(0);
      return reads;
    })();
    for (let size = 1; size <= 40; size += 1) {
      const servers = Array.from({ length: size * 5 }, (_, i) => ({ ...lab, name: `lab-${i}` }));
      await writeServers(file, { current: 'lab-0', servers });
    }
    isDone = true;
    expect(await reading).toBeGreaterThan(0);
    expect(await readdir(dirname(file))).toEqual(['servers.json']);
  });

  it('is named when it is damaged, and not shown', async () => {
    const { file } = await configuration();
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, '{"servers": [{"token": "secret');
    const error = await readServers(file).catch((reason: Error) => reason.message);
    expect(error).toContain(file);
    expect(error).not.toContain('secret');
    expect(await readFile(file, 'utf8')).toContain('secret');
  });
});

it('a login replaces the one of the same name and becomes current', () => {
  const stored = withServer(withServer({ current: null, servers: [] }, lab), fleet);
  const again = withServer(stored, { ...lab, token: 'another' });
  expect(again).toEqual({ current: 'lab', servers: [fleet, { ...lab, token: 'another' }] });
});

it('no login is current after the current one has ended', () => {
  const stored = withServer(withServer({ current: null, servers: [] }, lab), fleet);
  expect(withoutServer(stored, 'fleet')).toEqual({ current: null, servers: [lab] });
  expect(withoutServer(stored, 'lab')).toEqual({ current: 'fleet', servers: [fleet] });
});
