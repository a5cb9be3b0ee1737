import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDataDirectory } from '../../../tools/stack/data-directory.ts';
import { isAlive, waitUntil } from '../../../tools/stack/processes/processes.ts';
import { createRunningRecord, stopOrphans } from '../../../tools/stack/processes/running-file.ts';
import { loadSecrets, saveSecrets } from '../../../tools/stack/secrets.ts';
import { script, temporaryDirectory } from '../../support/common/process.ts';

const PROJECT = join(import.meta.dirname, '../../..');

describe('openDataDirectory', () => {
  it('is rejected while another process has it, and free again once that process was killed', async () => {
    const directory = join(await temporaryDirectory(), 'data');
    const code = `
      const { openDataDirectory } = await import(${JSON.stringify(`${PROJECT}/tools/stack/data-directory.ts`)});
      const { createRunningRecord } = await import(${JSON.stringify(`${PROJECT}/tools/stack/processes/running-file.ts`)});
      const data = await openDataDirectory(${JSON.stringify(directory)});
      createRunningRecord(data.running);
      console.log('open');
      setInterval(() => {}, 1000);`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void holder.kill('SIGKILL'));
    await once(holder.stdout!, 'data');
    await expect(openDataDirectory(directory)).rejects.toThrow(`Another Flotilla (process ${holder.pid}) runs on`);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    const data = await openDataDirectory(directory);
    data.release();
    expect((await stat(directory)).mode & 0o066).toBe(0);
  });

  it('names the directory when it cannot be one', async () => {
    const file = join(await temporaryDirectory(), 'file');
    await writeFile(file, '');
    await expect(openDataDirectory(file)).rejects.toThrow(/data directory .*file cannot be used .* FLOTILLA_DATA_DIR/);
    await expect(openDataDirectory(join(file, 'below'))).rejects.toThrow(/cannot be used/);
  });
});

describe('endOrphans', () => {
  it('ends recorded processes, those that ignore SIGTERM too', async () => {
    const directory = await temporaryDirectory();
    const stubborn = await script(join(directory, 'stubborn'), "trap '' TERM\nwhile true; do sleep 1; done");
    const orphan = spawn(stubborn, { detached: true, stdio: 'ignore' });
    const file = join(directory, 'running.json');
    createRunningRecord(file).add('worker', orphan.pid!);
    await expect(stopOrphans(file)).resolves.toEqual(['worker']);
    await expect(waitUntil(() => !isAlive(orphan.pid!), 3000)).resolves.toBe(true);
  });

  it('spares a process that only has the same id as a recorded one', async () => {
    const directory = await temporaryDirectory();
    const innocent = spawn('sleep', ['60'], { stdio: 'ignore' });
    onTestFinished(() => void innocent.kill('SIGKILL'));
    const file = join(directory, 'running.json');
    createRunningRecord(file).add('worker', innocent.pid!);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace(/"ticks":"\d+"/, '"ticks":"1"'));
    await expect(stopOrphans(file)).resolves.toEqual([]);
    expect(isAlive(innocent.pid!)).toBe(true);
  });

  it('takes a missing or broken record for an empty one', async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'broken.json'), '{"proc');
    await expect(stopOrphans(join(directory, 'missing.json'))).resolves.toEqual([]);
    await expect(stopOrphans(join(directory, 'broken.json'))).resolves.toEqual([]);
  });
});

describe('loadSecrets', () => {
  it('makes them once, readable by nobody else, good enough for the settings', async () => {
    const file = join(await temporaryDirectory(), 'secrets.json');
    const first = await loadSecrets(file, false);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(first.jwtSecret.length).toBeGreaterThanOrEqual(32);
    expect(Buffer.from(first.encryptionKeys.split(':')[1]!, 'base64')).toHaveLength(32);
    await expect(loadSecrets(file, true)).resolves.toEqual(first);
  });

  it('keeps a password that was not shown yet', async () => {
    const file = join(await temporaryDirectory(), 'secrets.json');
    const first = await loadSecrets(file, false);
    await saveSecrets(file, { ...first, unshownPassword: 'secret' });
    await expect(loadSecrets(file, true)).resolves.toEqual({ ...first, unshownPassword: 'secret' });
  });

  it('does not replace lost or broken secrets of existing databases', async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'postgres'));
    await expect(loadSecrets(join(directory, 'secrets.json'), true)).rejects.toThrow(/is missing, but databases/);
    await writeFile(join(directory, 'secrets.json'), '{"jwtSecret": 3}');
    await expect(loadSecrets(join(directory, 'secrets.json'), true)).rejects.toThrow(/are broken/);
  });
});
