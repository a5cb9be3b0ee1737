import { execFile } from 'node:child_process';
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ApiClient } from '../../../tools/harness/stack-client.ts';
import { killStack, processesOf } from '../../../tools/harness/stack-processes.ts';
import { temporaryDirectory } from '../../support/common/process.ts';
import { script } from '../../support/scripts/scripts.ts';
import { type RunningStack, runScript, stackSettings, startStack } from './npm-start.ts';

const EMAIL = 'admin@example.com';

async function logIn(stack: RunningStack, password: string): Promise<ApiClient> {
  const api = new ApiClient(stack.baseUrl);
  await api.login(EMAIL, password);
  return api;
}

/** @returns its id */
const makeScript = async (api: ApiClient) => (await api.post<{ id: number }>('/scripts', script())).id;

function passwordOf(stack: RunningStack): string {
  const password = /Password\s+(\S+)\s+\(shown only now\)/.exec(stack.output())?.[1];
  if (!password) throw new Error(`no password was printed:\n${stack.output()}`);
  return password;
}

describe('npm start', () => {
  it('brings everything up, ends in order, and finds all of it again, or what was copied back', {
    timeout: 300_000,
  }, async () => {
    const dataDir = join(await temporaryDirectory(), 'data');
    onTestFinished(() => killStack(dataDir));
    const settings = await stackSettings(dataDir, { FLOTILLA_SIMULATED_COMPUTERS: '3', FLOTILLA_WEB_PAGE: 'true' });

    const first = startStack(settings);
    await first.ready();
    const password = passwordOf(first);
    expect(first.output()).toContain('npm run reset-password -- admin@example.com');
    const api = await logIn(first, password);
    await expect.poll(() => api.computerIds(), { timeout: 60_000, interval: 200 }).toHaveLength(3);
    const before = await api.computerIds();
    await showsPage(first);
    const ui = (await readFile(join(dataDir, 'temporal', 'ui.url'), 'utf8')).trim();
    expect(ui).toContain(`http://127.0.0.1:${settings['FLOTILLA_TEMPORAL_UI_PORT']}/`);
    expect((await fetch(ui, { redirect: 'manual' })).status).toBe(303);
    const server = await api.get<{ temporal_ui_url: string }>('/server');
    expect(ui).toMatch(new RegExp(`^${server.temporal_ui_url}\\?token=`));
    first.process.kill('SIGTERM');
    // It is 1 when something had to be ended by force, 15 seconds after the signal.
    await expect(first.exited).resolves.toBe(0);
    expect(processesOf(dataDir)).toEqual([]);
    // With the owners of the files: PostgreSQL's may be another user.
    await promisify(execFile)('cp', ['-a', dataDir, `${dataDir}-copy`]);

    const chosen = 'chosen while it was stopped';
    const reset = runScript('reset-password', settings, [EMAIL, '--stdin'], `${chosen}\n`);
    await expect(reset.exited, reset.output()).resolves.toBe(0);
    expect(reset.output()).not.toContain(chosen);
    expect(processesOf(dataDir)).toEqual([]);

    const fleetLog = () => readFile(join(dataDir, 'logs', 'fleet.log'), 'utf8');
    const { length: logged } = await fleetLog();
    const second = startStack(settings);
    await second.ready();
    expect(second.output()).not.toContain('Password');
    const own = processesOf(dataDir).filter(({ role }) => role === 'api' || role === 'worker');
    const compiled = expect.stringMatching(/ build\/code-[\da-f]{16}\//);
    expect(own.map(({ command }) => command)).toEqual([compiled, compiled]);
    const again = await logIn(second, chosen);
    await expect.poll(async () => (await fleetLog()).slice(logged)).toContain('"fleet enrolled"');
    await expect(again.computerIds()).resolves.toEqual(before);
    const done = await again.pollActivity(await again.actOnSnaps(before), 90_000);
    expect(done.activity_status).toBe('succeeded');
    const lost = await makeScript(again);
    // Ctrl-C reaches the whole group of the terminal, and impatient people press it twice.
    process.kill(-second.process.pid!, 'SIGINT');
    await expect.poll(second.output).toContain('Flotilla: stopping');
    process.kill(-second.process.pid!, 'SIGINT');
    await expect(second.exited).resolves.toBe(0);
    expect(processesOf(dataDir)).toEqual([]);
    await noSecretsIn(dataDir, password);
    await rm(dataDir, { recursive: true });
    await rename(`${dataDir}-copy`, dataDir);

    const restored = startStack(settings, ['--after-restore']);
    await restored.ready();
    expect(restored.output()).toContain('after the restore: 0 operations of unknown outcome ended');
    expect((await again.request('GET', '/computers')).status).toBe(401);
    expect(await makeScript(await logIn(restored, password))).toBeGreaterThan(lost + 100_000);
    restored.process.kill('SIGTERM');
    await expect(restored.exited).resolves.toBe(0);
  });

  it('rejects an option it does not know', { timeout: 60_000 }, async () => {
    const dataDir = join(await temporaryDirectory(), 'data');
    const stack = startStack(await stackSettings(dataDir), ['--after-restor']);
    await expect(stack.exited).resolves.toBe(1);
    expect(stack.output()).toContain('Usage: npm start [-- --after-restore]');
  });
});

/** The page and what it loads, under the address that is printed first. */
async function showsPage(stack: RunningStack): Promise<void> {
  expect(stack.output()).toMatch(new RegExp(`Flotilla is ready .*\n  Web page       ${stack.baseUrl}/\n`));
  const page = await (await fetch(`${stack.baseUrl}/`)).text();
  expect(page).toContain('<div id="root">');
  const [, script = 'none'] = /<script type="module" crossorigin src="([^"]+)">/.exec(page) ?? [];
  const { status, headers } = await fetch(new URL(script, stack.baseUrl), {
    headers: { 'accept-encoding': 'gzip, deflate, br' },
  });
  expect([status, headers.get('content-encoding')]).toEqual([200, 'br']);
}

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
