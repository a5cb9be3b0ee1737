import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { joinStack } from '../../../tools/stack/join.ts';
import { createRunningRecord, readStackState } from '../../../tools/stack/processes/running-file.ts';
import { temporaryDirectory } from '../../support/common/process.ts';

const silent = (): void => undefined;

describe('joinStack', () => {
  it.each([
    { FLOTILLA_DATABASE_URL: 'postgres://elsewhere/flotilla' },
    { FLOTILLA_DATABASE_URL_FILE: '/run/secrets/database_url' },
    { FLOTILLA_TEMPORAL_ADDRESS: 'elsewhere:7233' },
    { FLOTILLA_JWT_SECRET: 'x' },
    { FLOTILLA_ENCRYPTION_KEYS: 'k1:x' },
  ])('leaves a process alone that has %o', async (env) => {
    await expect(joinStack('worker', [], env, silent)).resolves.toBeNull();
  });

  it('joins where what is named is that of the running stack', async () => {
    const directory = await temporaryDirectory();
    const api = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)'], {
      env: { FLOTILLA_DATABASE_URL: 'postgres://elsewhere/flotilla', FLOTILLA_JWT_SECRET: 'x'.repeat(32) },
    });
    onTestFinished(() => void api.kill('SIGKILL'));
    await once(api, 'spawn');
    createRunningRecord(`${directory}/running.json`).add('API', api.pid!);
    const env = { FLOTILLA_DATA_DIR: directory, FLOTILLA_DATABASE_URL: 'postgres://elsewhere/flotilla' };
    const joined = await joinStack('worker', [], env, silent);
    expect(joined?.settings).toMatchObject({ FLOTILLA_JWT_SECRET: 'x'.repeat(32), ...env });
    await expect(joinStack('worker', [], { ...env, FLOTILLA_DATABASE_URL: 'x' }, silent)).resolves.toBeNull();
  });

  it('takes an empty setting for none', async () => {
    const env = { FLOTILLA_DATA_DIR: await temporaryDirectory(), FLOTILLA_DATABASE_URL: ' ' };
    await expect(joinStack('worker', [], env, silent)).rejects.toThrow('No Flotilla runs in');
  });

  it('lets simulated computers enrol elsewhere', async () => {
    const env = { FLOTILLA_DATA_DIR: await temporaryDirectory() };
    await expect(joinStack('fleet', ['--url', 'http://127.0.0.1:1'], env, silent)).resolves.toBeNull();
    await expect(joinStack('fleet', [], { ...env, FLOTILLA_PORT: '1' }, silent)).resolves.toBeNull();
    await expect(joinStack('fleet', [], env, silent)).resolves.toBeNull();
  });
});

describe('the state of a stack', () => {
  it('is absent, then starting, then running with the settings of its API', async () => {
    const file = `${await temporaryDirectory()}/running.json`;
    expect(readStackState(file)).toEqual({ is: 'absent' });
    const record = createRunningRecord(file);
    expect(readStackState(file)).toEqual({ is: 'starting', supervisor: process.pid });
    record.add('API', process.pid);
    expect(readStackState(file)).toMatchObject({ is: 'running', supervisor: process.pid, settings: {} });
    record.remove();
    expect(readStackState(file)).toEqual({ is: 'absent' });
  });
});
