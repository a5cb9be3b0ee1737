import { readdirSync, readFileSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStack, type TestStack } from '../../../tools/harness/stack.ts';
import { readAgentIdentities } from '../../../tools/harness/stack-access.ts';
import { ApiClient } from '../../../tools/harness/stack-client.ts';
import { listeningPorts } from '../../support/http/servers.ts';

const EMAIL = 'admin@example.com';
const CANARY = 'Canary-4711-password';
const COMPUTERS = 3;

describe('stacks beside each other', () => {
  const env = { FLOTILLA_ADMIN_PASSWORD: CANARY, FLOTILLA_SIMULATED_COMPUTERS: String(COMPUTERS) };
  const stacks: TestStack[] = [];
  let first: TestStack;
  let api: ApiClient;

  /** A stack on ports chosen now: while it waits for its start, other tests may take them. */
  const newStack = async (settings: Record<string, string> = {}): Promise<TestStack> => {
    const stack = await createStack({ ...env, ...settings });
    stacks.push(stack);
    return stack;
  };

  beforeAll(async () => {
    first = await newStack({ FLOTILLA_LOG_LEVEL: 'debug' });
    await first.start();
    api = new ApiClient(first.url);
    await api.login(EMAIL, CANARY);
  }, 120_000);

  afterAll(async () => {
    await Promise.allSettled(stacks.map((stack) => stack.dispose()));
  }, 60_000);

  it('rejects a second stack on the same data directory with one message and exit code 1', async () => {
    const end = await failedStart(await newStack(), { FLOTILLA_DATA_DIR: first.dataDir });
    expect(end.code).toBe(1);
    expect(end.text).toMatch(/^Flotilla cannot run: Another Flotilla \(process \d+\) runs on the data directory/m);
    expect(end.text).not.toContain('    at ');
    expect((await first.readiness()).status).toBe(200);
  }, 60_000);

  it('rejects ports in use with one message that names each and exit code 1', async () => {
    const ports = { FLOTILLA_PORT: String(first.ports.api), FLOTILLA_TEMPORAL_PORT: String(first.ports.temporal) };
    const second = await newStack();
    const end = await failedStart(second, ports);
    expect(end.code).toBe(1);
    expect(end.text).toContain(`FLOTILLA_PORT: port ${first.ports.api}`);
    expect(end.text).toContain(`FLOTILLA_TEMPORAL_PORT: port ${first.ports.temporal}`);
    expect(end.text).not.toContain('    at ');
    expect(second.describeProcesses()).toBe('no process');
  }, 60_000);

  it('rejects a port that another program holds', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const { port } = holder.address() as AddressInfo;
    const end = await failedStart(await newStack(), { FLOTILLA_DATABASE_PORT: String(port) });
    holder.close();
    expect(end).toMatchObject({ code: 1, text: expect.stringContaining(String(port)) });
  }, 60_000);

  it('rejects wrong settings with one message that names all of them and exit code 1', async () => {
    const wrong = {
      FLOTILLA_PORT: '99999',
      FLOTILLA_DEPLOYMENT: 'cloud',
      FLOTILLA_SIMULATED_COMPUTERS: 'many',
      FLOTILLA_ENCRYPTION_KEYS: 'k1:short',
    };
    const end = await failedStart(await newStack(), wrong);
    expect(end.code).toBe(1);
    for (const name of Object.keys(wrong)) expect(end.text).toContain(name);
    expect(end.text).not.toContain('    at ');
  }, 60_000);

  it('runs a second stack with other ports and another data directory', async () => {
    const second = await newStack();
    await second.start();
    const other = new ApiClient(second.url);
    await other.login(EMAIL, CANARY);
    for (const [stack, client] of [
      [first, api],
      [second, other],
    ] as const) {
      await stack.waitUntil('the fleet to enrol', async () => (await client.computerIds()).length === COMPUTERS);
    }
    const activity = await other.actOnSnaps(await other.computerIds());
    expect((await other.pollActivity(activity, 60_000)).activity_status).toBe('succeeded');
    expect((await api.get<{ count: number }>('/activities')).count).toBe(0);
    // A token of one stack is invalid in another.
    const foreign = await fetch(`${second.url}/api/v2/computers`, {
      headers: { authorization: `Bearer ${api.token}` },
    });
    expect(foreign.status).toBe(401);
    const end = await second.stop();
    expect(end.code).toBe(0);
    expect((await first.readiness()).status).toBe(200);
  }, 150_000);

  it('DEBUG: only the API listens beyond this machine, and only where configured; no inspector listens at all', async () => {
    const pids = first.processes().map(({ pid }) => pid);
    const open = listeningPorts(pids);
    const { api: apiPort, database, temporal, temporalUi, metrics } = first.ports;
    const known = [apiPort, database, temporal, temporalUi, metrics];
    expect(open.map(({ port }) => port)).toEqual(expect.arrayContaining(known));
    expect(open.filter(({ loopback }) => !loopback)).toEqual([]);
    expect(open.map(({ port }) => port)).not.toContain(9229);
    for (const p of first.processes()) expect(p.command).not.toMatch(/--inspect/);
    for (const path of ['/metrics', '/debug', '/json/version']) {
      expect((await fetch(`${first.url}${path}`)).status).toBe(404);
    }
    for (const path of ['/codec/decode', '/codec/encode']) {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${first.url}${path}`, { method: 'POST', headers, body: '{"payloads":[]}' });
      expect(response.status).toBe(401);
    }
  });

  it('writes no password, token or secure id into its output and logs', async () => {
    await api.pollActivity(await api.actOnSnaps(await api.computerIds()), 60_000);
    await api.request('POST', '/login', { email: EMAIL, password: `${CANARY}-wrong` });
    await api.request('POST', '/login', `not json ${CANARY}`);
    const secrets = await secretsOf(first, api);
    expect(secrets.length).toBeGreaterThan(COMPUTERS + 4);
    const end = await first.stop();
    expect(end.code).toBe(0);
    const hits: string[] = [];
    for (const file of [first.outputFile, ...filesBelow(join(first.dataDir, 'logs'))]) {
      const text = readFileSync(file, 'utf8');
      for (const { name, value } of secrets) if (text.includes(value)) hits.push(`${name} in ${file}`);
    }
    expect(hits).toEqual([]);
  }, 90_000);

  it('keeps what it generated readable for its user alone', () => {
    expect(statSync(join(first.dataDir, 'secrets.json')).mode & 0o077).toBe(0);
    for (const file of filesBelow(join(first.dataDir, 'logs'))) expect(statSync(file).mode & 0o077).toBe(0);
  });
});

/** Starts a stack that cannot run, and waits for its end. Returns its exit code and output. */
async function failedStart(
  stack: TestStack,
  env: Record<string, string>,
): Promise<{ code: number | null; text: string }> {
  const { exited } = stack.launch(env);
  const { code } = await exited;
  return { code, text: stack.output() };
}

async function secretsOf(stack: TestStack, api: ApiClient): Promise<{ name: string; value: string }[]> {
  const generated = JSON.parse(readFileSync(join(stack.dataDir, 'secrets.json'), 'utf8')) as Record<string, string>;
  const identities = await readAgentIdentities(stack.dataDir);
  const [account] = await stack.rows<{ hash: string }>('select password_hash as hash from person');
  return [
    { name: 'the password', value: CANARY },
    { name: 'the token', value: api.token },
    ...Object.entries(generated).map(([name, value]) => ({ name, value })),
    { name: 'the hash of the password', value: account?.hash ?? '' },
    ...identities.map((value) => ({ name: 'a secure id', value })),
  ];
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
