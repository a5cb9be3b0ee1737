import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverOptions } from '../../../temporal/client/connection.ts';
import { createStack, type TestStack } from '../../../tools/harness/stack.ts';
import { stackTls } from '../../../tools/harness/stack-access.ts';
import { certificatesIn, SERVER_NAME } from '../../../tools/temporal-server/certificates.ts';
import { listeningPorts } from '../../support/http/servers.ts';
import { readableHistory } from '../../support/stack/secret-scan.ts';

const PROJECT = join(import.meta.dirname, '../../..');
const NOBODY = 65_534;
let stack: TestStack;
let address: string;

beforeAll(async () => {
  stack = await createStack({ FLOTILLA_SIMULATED_COMPUTERS: '0' });
  await stack.start();
  address = `127.0.0.1:${stack.ports.temporal}`;
}, 180_000);

afterAll(() => stack?.dispose());

const uiAddress = (): URL => new URL(readFileSync(join(stack.dataDir, 'temporal', 'ui.url'), 'utf8'));
const certificates = () => certificatesIn(join(stack.dataDir, 'temporal', 'tls'));

/** Whether a frontend lets in whoever connects so. */
async function letsIn(options: Parameters<typeof Connection.connect>[0]): Promise<boolean> {
  try {
    const connection = await Connection.connect({ connectTimeout: 3000, ...options });
    await connection.workflowService.listNamespaces({});
    await connection.close();
    return true;
  } catch {
    return false;
  }
}

describe('the Temporal server of npm start', () => {
  it('lets in its owner, who has the certificate of the stack', async () => {
    expect(await letsIn(serverOptions({ temporalAddress: address, temporalTls: stackTls(stack.dataDir) }))).toBe(true);
    for (const file of [certificates().client.key, join(stack.dataDir, 'temporal', 'cli.toml')]) {
      expect(statSync(file).mode & 0o077).toBe(0);
    }
  });

  it('lets nobody in without it, at any port of any of its parts', { timeout: 120_000 }, async () => {
    const pids = stack.processes('temporal').map(({ pid }) => pid);
    const ports = listeningPorts(pids).map(({ port }) => port);
    expect(ports).toEqual(expect.arrayContaining([stack.ports.temporal, stack.ports.temporalUi]));
    const serverRootCACertificate = readFileSync(certificates().ca);
    for (const port of ports) {
      const place = `127.0.0.1:${port}`;
      expect(await letsIn({ address: place }), place).toBe(false);
      expect(await letsIn({ address: place, tls: { serverRootCACertificate, serverNameOverride: SERVER_NAME } })).toBe(
        false,
      );
    }
  });

  it.skipIf(process.getuid?.() !== 0)('lets no other user of the machine in', { timeout: 60_000 }, async () => {
    const script = `
      import { readFileSync } from 'node:fs';
      import { Connection } from '@temporalio/client';
      const outcome = [process.getuid()];
      try { readFileSync(${JSON.stringify(certificates().client.key)}); outcome.push('read the key'); } catch (error) { outcome.push(error.code); }
      try {
        const connection = await Connection.connect({ address: ${JSON.stringify(address)}, connectTimeout: 3000 });
        await connection.workflowService.listNamespaces({});
        outcome.push('listed namespaces');
      } catch { outcome.push('refused'); }
      const ui = await fetch('http://127.0.0.1:${stack.ports.temporalUi}/api/v1/namespaces');
      const codec = await fetch('${stack.url}/codec/decode', { method: 'POST', body: '{}' });
      console.log(JSON.stringify([...outcome, ui.status, codec.status]));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      cwd: PROJECT,
      uid: NOBODY,
      gid: NOBODY,
      env: {},
    });
    expect(JSON.parse(stdout)).toEqual([NOBODY, 'EACCES', 'refused', 401, 401]);
  });
});

describe('its web UI', () => {
  it('opens at the address of a file that is printed, and from then on by a cookie', async () => {
    const page = uiAddress();
    expect(stack.output()).toContain(
      `${page.origin}${page.pathname}   (with its token: ${stack.dataDir}/temporal/ui.url)`,
    );
    expect(statSync(join(stack.dataDir, 'temporal', 'ui.url')).mode & 0o077).toBe(0);
    const first = await fetch(page, { redirect: 'manual' });
    expect(first.status).toBe(303);
    expect(first.headers.get('location')).toBe(page.pathname);
    const cookie = first.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/; HttpOnly; SameSite=Strict$/);
    const headers = { cookie: cookie.split(';')[0]! };
    const html = await (await fetch(new URL('/', page), { headers })).text();
    expect(html).toContain('<html');
    const listed = await fetch(new URL('/api/v1/namespaces', page), { headers });
    expect(JSON.stringify(await listed.json())).toContain('"flotilla"');
  });

  it('is closed without it, and under another name', async () => {
    const origin = uiAddress().origin;
    for (const path of ['/', '/api/v1/namespaces', '/codec/decode', '/?token=wrong', '/_app/version.json']) {
      expect((await fetch(`${origin}${path}`)).status, path).toBe(401);
    }
    const { status } = await fetch(origin, { headers: { cookie: 'flotilla_temporal_ui=wrong' } });
    expect(status).toBe(401);
    const { stdout } = await promisify(execFile)('curl', [
      ...['-s', '-o', '/dev/null', '-w', '%{http_code}', '-H', 'Host: evil.example'],
      `${origin}/?token=${uiAddress().searchParams.get('token')}`,
    ]);
    expect(stdout).toBe('421');
  });

  it('decrypts payloads for whoever may open it, with the token of the codec', async () => {
    const settings = JSON.parse(readFileSync(join(stack.dataDir, 'secrets.json'), 'utf8')) as Record<string, string>;
    const call = (url: string, token: string | undefined, body: unknown) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      }).then(async (response) => ({ status: response.status, body: (await response.json()) as object }));
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const clear = { payloads: [{ metadata: { encoding: base64('json/plain') }, data: base64('"hello"') }] };
    const encrypted = await call(`${stack.url}/codec/encode`, settings['codecToken'], clear);
    expect(encrypted.status).toBe(200);
    const byUi = await call(`${uiAddress().origin}/codec/decode`, settings['temporalUiToken'], encrypted.body);
    expect(byUi).toEqual({ status: 200, body: clear });
  });
});

describe('a workflow with input that is not encrypted', () => {
  it('runs none of its steps, and gives the reason', { timeout: 60_000 }, async () => {
    const connection = await Connection.connect(
      serverOptions({ temporalAddress: address, temporalTls: stackTls(stack.dataDir) }),
    );
    const outsider = new Client({ connection, namespace: 'flotilla' });
    const workflowId = 'activity/999999';
    const handle = await outsider.workflow.start('activity', {
      workflowId,
      taskQueue: 'fleet-activity',
      args: [{ activityId: 999_999 }],
    });
    const kinds = async () => (await handle.fetchHistory()).events?.map((event) => Object.keys(event).join()) ?? [];
    const found = async () => (await kinds()).join();
    await expect.poll(found, { timeout: 40_000, interval: 200 }).toContain('workflowTaskFailed');
    for (const step of ['activityTask', 'markerRecorded', 'childWorkflow', 'timer', 'workflowExecutionCompleted']) {
      expect(await found()).not.toContain(step);
    }
    expect(await readableHistory(stack, workflowId)).toContain('payload is not encrypted');
    await handle.terminate();
    await connection.close();
  });
});
