import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { killStack } from '../../../tools/harness/stack-processes.ts';
import { signalProcess } from '../../../tools/stack/processes/processes.ts';
import { temporaryDirectory } from '../../support/common/process.ts';
import { type RunningScript, type RunningStack, runScript, stackSettings, startStack } from './npm-start.ts';

let root: string;
let dataDir: string;
let settings: Record<string, string>;
let stack: RunningStack;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'flotilla-join-'));
  // PostgreSQL may run as another user.
  await chmod(root, 0o711);
  dataDir = join(root, 'data');
  settings = await stackSettings(dataDir, {
    FLOTILLA_SIMULATED_COMPUTERS: '0',
    FLOTILLA_ADMIN_PASSWORD: 'chosen-by-this-test',
  });
  stack = startStack(settings);
  await stack.ready();
}, 300_000);

afterAll(async () => {
  stack.process.kill('SIGTERM');
  await stack.exited;
  await killStack(dataDir);
  await rm(root, { recursive: true, force: true, maxRetries: 10 });
});

/** An npm script that knows nothing but the data directory. */
function beside(name: string, args: readonly string[] = []): RunningScript {
  const script = runScript(name, { FLOTILLA_DATA_DIR: dataDir }, args);
  onTestFinished(() => {
    if (script.process.pid) signalProcess(script.process.pid, 'SIGKILL', true);
  });
  return script;
}

async function untilPrinted(script: RunningScript, pattern: RegExp): Promise<RegExpExecArray> {
  await expect.poll(script.output, { timeout: 60_000 }).toMatch(pattern);
  return pattern.exec(script.output())!;
}

async function logIn(baseUrl: string, password = 'chosen-by-this-test'): Promise<string> {
  const response = await fetch(`${baseUrl}/api/v2/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'admin@example.com', password }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { token: string }).token;
}

describe('beside a running npm start', () => {
  it('joins it as another worker, without settings', { timeout: 120_000 }, async () => {
    const worker = beside('worker');
    const [line] = await untilPrinted(worker, /^worker: joins .*$/m);
    expect(line).toContain(dataDir);
    for (const queue of ['fleet-activity', 'fleet-schedule', 'fleet-report']) {
      await untilPrinted(worker, new RegExp(`"queue":"${queue}".*"polling"`));
    }
    expect(worker.output()).not.toContain('this build gets no work');
    worker.process.kill('SIGTERM');
    await expect(worker.exited).resolves.toBe(0);
  });

  it('joins it as another API and another gateway, each on the next free port', { timeout: 120_000 }, async () => {
    const url = /^(?:api|gateway): joins .* serves (http:\S+)$/m;
    const api = beside('api', ['--no-gateway']);
    const [, apiUrl = ''] = await untilPrinted(api, url);
    await untilPrinted(api, /"serving"/);
    const token = await logIn(apiUrl);
    const fromStack = await fetch(`${stack.baseUrl}/api/v2/computers`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(fromStack.status).toBe(200);

    const gateway = beside('gateway');
    const [, gatewayUrl = ''] = await untilPrinted(gateway, url);
    await untilPrinted(gateway, /"serving"/);
    expect(gatewayUrl).not.toBe(apiUrl);
    expect((await fetch(`${gatewayUrl}/message-system`, { method: 'POST' })).status).not.toBe(404);
    expect((await fetch(`${gatewayUrl}/api/v2/login`)).status).toBe(404);
  });

  it('joins it from the shell that started it, with the settings of that', { timeout: 120_000 }, async () => {
    const gateway = runScript('gateway', settings);
    const fleet = runScript('fleet', settings, ['--computers', '1']);
    onTestFinished(() => {
      for (const { process: child } of [gateway, fleet]) if (child.pid) signalProcess(child.pid, 'SIGKILL', true);
    });
    const [, gatewayUrl] = await untilPrinted(gateway, /^gateway: joins .* serves (http:\S+)$/m);
    expect(gatewayUrl).not.toBe(stack.baseUrl);
    await untilPrinted(gateway, /"serving"/);
    await untilPrinted(fleet, /^fleet: joins .*$/m);
    await untilPrinted(fleet, /"fleet enrolled"/);
  });

  it('enrols more simulated computers in it, which are no copies of others', { timeout: 120_000 }, async () => {
    const fleet = beside('fleet', ['--computers', '2']);
    await untilPrinted(fleet, /^fleet: joins .*$/m);
    const headers = { authorization: `Bearer ${await logIn(stack.baseUrl)}` };
    const cloneIds = async () => {
      // What docs/computers.md finds simulated computers by.
      const url = `${stack.baseUrl}/api/v2/computers?root_only=false&query=annotation:rack`;
      const { results } = (await (await fetch(url, { headers })).json()) as { results: { clone_id: number | null }[] };
      expect(results.length, fleet.output()).toBeGreaterThanOrEqual(3);
      return results.map(({ clone_id }) => clone_id);
    };
    expect(await vi.waitFor(cloneIds, { timeout: 60_000, interval: 200 })).toEqual([null, null, null]);
  });
});

describe('npm run reset-password beside a running npm start', () => {
  const reset = (...args: string[]) => runScript('reset-password', { FLOTILLA_DATA_DIR: dataDir }, args);

  it('prints a new password, and ends the tokens there were', { timeout: 60_000 }, async () => {
    const token = await logIn(stack.baseUrl);
    const script = reset(' Admin@Example.com ');
    await expect(script.exited, script.output()).resolves.toBe(0);
    const password = /^ {2}Password {2}(\S+)$/m.exec(script.output())?.[1] ?? '';
    await logIn(stack.baseUrl, password);
    const status = async (): Promise<number> =>
      (await fetch(`${stack.baseUrl}/api/v2/computers`, { headers: { authorization: `Bearer ${token}` } })).status;
    await expect.poll(status, { timeout: 10_000, interval: 200 }).toBe(401);
  });

  it.each([
    { args: ['nobody@example.com'], message: 'Nobody has the email address nobody@example.com' },
    { args: [], message: 'Name one email address' },
    { args: ['a@example.com', '--loud'], message: "Unknown option '--loud'" },
  ])('rejects $args', { timeout: 60_000 }, async ({ args, message }) => {
    const script = reset(...args);
    await expect(script.exited).resolves.toBe(1);
    expect(script.output()).toContain(message);
    expect(script.output()).not.toContain('    at ');
  });
});

describe('without a running npm start', () => {
  it.each(['worker', 'gateway', 'api'])('explains in npm run %s how to get one', { timeout: 60_000 }, async (name) => {
    const script = runScript(name, { FLOTILLA_DATA_DIR: await temporaryDirectory() });
    await expect(script.exited).resolves.toBe(1);
    expect(script.output()).toMatch(/No Flotilla runs in \S+: start it with npm start/);
    expect(script.output()).not.toContain('    at ');
  });
});
