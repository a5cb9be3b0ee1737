import { execFile } from 'node:child_process';
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { killStack, processesOf } from '../../../tools/harness/stack-processes.ts';
import { isAlive, signalProcess } from '../../../tools/stack/processes/processes.ts';
import { temporaryDirectory } from '../../support/process.ts';
import { script } from '../../support/scripts/scripts.ts';
import { type RunningStack, runScript, stackSettings, startStack } from './npm-start.ts';

/** Ends whatever a failed test leaves of a stack. */
function endAtLast(dataDir: string): void {
  onTestFinished(() => killStack(dataDir));
}

async function logIn(stack: RunningStack, email: string, password: string): Promise<string> {
  const response = await fetch(`${stack.baseUrl}/api/v2/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { token: string }).token;
}

async function computerIds(stack: RunningStack, token: string): Promise<number[]> {
  const response = await fetch(`${stack.baseUrl}/api/v2/computers`, { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBe(200);
  return ((await response.json()) as { results: { id: number }[] }).results.map(({ id }) => id).sort((a, b) => a - b);
}

/** Makes a script. @returns its id */
async function makeScript(stack: RunningStack, token: string): Promise<number> {
  const response = await fetch(`${stack.baseUrl}/api/v2/scripts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(script()),
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as { id: number }).id;
}

/** Does something with a stack that runs for as long. */
async function whileRunning<T>(stack: RunningStack, work: () => Promise<T>): Promise<T> {
  await stack.ready();
  const done = await work();
  stack.process.kill('SIGTERM');
  await expect(stack.exited).resolves.toBe(0);
  return done;
}

async function untilEnrolled(stack: RunningStack, token: string, count: number): Promise<number[]> {
  const enrolled = async () => {
    const ids = await computerIds(stack, token);
    expect(ids.length, stack.output()).toBeGreaterThanOrEqual(count);
    return ids;
  };
  return await vi.waitFor(enrolled, { timeout: 60_000, interval: 200 });
}

function passwordOf(stack: RunningStack): string {
  const password = /Password\s+(\S+)\s+\(shown only now\)/.exec(stack.output())?.[1];
  if (!password) throw new Error(`no password was printed:\n${stack.output()}`);
  return password;
}

describe('npm start', () => {
  it('brings everything up, ends in order, and finds all of it again', { timeout: 240_000 }, async () => {
    const dataDir = join(await temporaryDirectory(), 'data');
    endAtLast(dataDir);
    const settings = await stackSettings(dataDir, { FLOTILLA_SIMULATED_COMPUTERS: '3' });

    const first = startStack(settings);
    await first.ready();
    const password = passwordOf(first);
    expect(first.output()).toContain('npm run reset-password -- admin@example.com');
    const before = await untilEnrolled(first, await logIn(first, 'admin@example.com', password), 3);
    const ui = (await readFile(join(dataDir, 'temporal', 'ui.url'), 'utf8')).trim();
    expect(ui).toContain(`http://127.0.0.1:${settings['FLOTILLA_TEMPORAL_UI_PORT']}/`);
    expect((await fetch(ui, { redirect: 'manual' })).status).toBe(303);
    first.process.kill('SIGTERM');
    const startedAt = performance.now();
    await expect(first.exited).resolves.toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(processesOf(dataDir)).toEqual([]);

    const chosen = 'chosen while it was stopped';
    const reset = runScript('reset-password', settings, ['admin@example.com', '--stdin'], `${chosen}\n`);
    await expect(reset.exited, reset.output()).resolves.toBe(0);
    expect(reset.output()).not.toContain(chosen);
    expect(processesOf(dataDir)).toEqual([]);

    const fleetLog = () => readFile(join(dataDir, 'logs', 'fleet.log'), 'utf8');
    const { length: logged } = await fleetLog();
    const second = startStack(settings);
    await second.ready();
    expect(second.output()).not.toContain('Password');
    const token = await logIn(second, 'admin@example.com', chosen);
    await expect.poll(async () => (await fleetLog()).slice(logged)).toContain('"fleet enrolled"');
    await expect(computerIds(second, token)).resolves.toEqual(before);
    // Ctrl-C reaches the whole group of the terminal, and impatient people press it twice.
    process.kill(-second.process.pid!, 'SIGINT');
    await expect.poll(second.output).toContain('Flotilla: stopping');
    process.kill(-second.process.pid!, 'SIGINT');
    await expect(second.exited).resolves.toBe(0);
    expect(processesOf(dataDir)).toEqual([]);
    await noSecretsIn(dataDir, password);
  });

  it('starts each of its processes again when it dies', {
    timeout: 240_000,
  }, async () => {
    const dataDir = join(await temporaryDirectory(), 'data');
    endAtLast(dataDir);
    const settings = await stackSettings(dataDir, {
      FLOTILLA_SIMULATED_COMPUTERS: '0',
      FLOTILLA_ADMIN_PASSWORD: 'chosen-by-test',
    });
    const first = startStack(settings);
    await first.ready();
    for (const part of [/src\/server\/main\.ts/, /workers\/main\.ts/, /flotilla-temporal/, /bin\/postgres -D/]) {
      const victim = processesOf(dataDir).find(({ command }) => part.test(command));
      expect(victim, String(part)).toBeDefined();
      const { pid } = victim!;
      signalProcess(pid, 'SIGKILL');
      await expect.poll(() => isAlive(pid)).toBe(false);
      await first.ready();
    }
    await logIn(first, 'admin@example.com', 'chosen-by-test');
    expect(first.output().match(/ended \(killed by SIGKILL\); starting it again/g)).toHaveLength(4);

    first.process.kill('SIGTERM');
    await expect(first.exited).resolves.toBe(0);
    expect(processesOf(dataDir)).toEqual([]);
  });

  it('brings a data directory that was copied back in line with what others know, on request', {
    timeout: 240_000,
  }, async () => {
    const dataDir = join(await temporaryDirectory(), 'data');
    endAtLast(dataDir);
    const [email, password] = ['admin@example.com', 'chosen-by-test'];
    const settings = await stackSettings(dataDir, {
      FLOTILLA_SIMULATED_COMPUTERS: '0',
      FLOTILLA_ADMIN_PASSWORD: password,
    });
    const first = startStack(settings);
    await whileRunning(first, () => logIn(first, email, password));
    // With the owners of the files: PostgreSQL's may be another user.
    await promisify(execFile)('cp', ['-a', dataDir, `${dataDir}-copy`]);
    const second = startStack(settings);
    const lost = await whileRunning(second, async () => {
      const token = await logIn(second, email, password);
      return { token, id: await makeScript(second, token) };
    });
    await rm(dataDir, { recursive: true });
    await rename(`${dataDir}-copy`, dataDir);

    const restored = startStack(settings, ['--after-restore']);
    await whileRunning(restored, async () => {
      expect(restored.output()).toContain('after the restore: 0 operations of unknown outcome ended');
      const headers = { authorization: `Bearer ${lost.token}` };
      expect((await fetch(`${restored.baseUrl}/api/v2/computers`, { headers })).status).toBe(401);
      const token = await logIn(restored, email, password);
      expect(await makeScript(restored, token)).toBeGreaterThan(lost.id + 100_000);
    });
  });

  it('rejects an option it does not know', { timeout: 60_000 }, async () => {
    const dataDir = join(await temporaryDirectory(), 'data');
    const stack = startStack(await stackSettings(dataDir), ['--after-restor']);
    await expect(stack.exited).resolves.toBe(1);
    expect(stack.output()).toContain('Usage: npm start [-- --after-restore]');
  });
});

async function noSecretsIn(dataDir: string, password: string): Promise<void> {
  const secretsFile = join(dataDir, 'secrets.json');
  expect((await stat(secretsFile)).mode & 0o777).toBe(0o600);
  const secrets = JSON.parse(await readFile(secretsFile, 'utf8')) as Record<string, string>;
  expect(Object.keys(secrets).sort()).toEqual([
    'codecToken',
    'databasePassword',
    'encryptionKeys',
    'jwtSecret',
    'superuserPassword',
    'temporalDatabasePassword',
    'temporalUiToken',
  ]);
  for (const name of await readdir(join(dataDir, 'logs'))) {
    const log = await readFile(join(dataDir, 'logs', name), 'utf8');
    for (const secret of [password, ...Object.values(secrets)]) expect(log.includes(secret), name).toBe(false);
  }
}
