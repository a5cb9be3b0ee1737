import { type ChildProcess, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { get, inheritedEnvironment } from '../../tools/harness/stack-programs.ts';
import { findFreePorts } from '../../tools/stack/processes/ports.ts';

const PROJECT = join(import.meta.dirname, '../..');
/** Each is a line of about a kilobyte: more than a socket takes that nobody reads, with all that may wait for it. */
const REQUESTS = 3000;
const AT_ONCE = 10;
const LIMIT_MS = 60_000;

/** An API without its servers: it returns 503 and logs every request. */
describe('row 28: a log that nobody takes', { timeout: 300_000 }, () => {
  let api: ChildProcess | null = null;

  afterEach(() => {
    api?.kill('SIGKILL');
  });

  async function start(log: 'pipe' | number): Promise<{ url: string; metrics: string }> {
    const [port, metricsPort] = await findFreePorts(2);
    api = spawn(process.execPath, ['--import', './src/process/require-node.mjs', 'src/server/main.ts'], {
      cwd: PROJECT,
      env: {
        ...inheritedEnvironment(),
        FLOTILLA_PORT: String(port),
        FLOTILLA_DATABASE_URL: 'postgres://nobody:none@127.0.0.1:9/none',
        FLOTILLA_TEMPORAL_ADDRESS: '127.0.0.1:9',
        FLOTILLA_JWT_SECRET: 'x'.repeat(40),
        FLOTILLA_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
        FLOTILLA_METRICS_PORT: String(metricsPort),
        FLOTILLA_LOG_LEVEL: 'debug',
        FLOTILLA_API_RATE_LIMIT: '0',
      },
      stdio: ['ignore', 'ignore', log],
    });
    const url = `http://127.0.0.1:${port}`;
    while ((await get(`${url}/healthz`)).status !== 200) {
      if (api.exitCode !== null) throw new Error(`it ended with code ${api.exitCode}`);
      await sleep(100);
    }
    return { url, metrics: `http://127.0.0.1:${metricsPort}/metrics` };
  }

  /** Many requests that are logged, each repeated until it gets a response. @throws when one gets none in time */
  async function requestOften(url: string): Promise<void> {
    const statuses = new Set<number>();
    for (let done = 0; done < REQUESTS; done += AT_ONCE) {
      const requested = Array.from({ length: AT_ONCE }, () => untilResponded(`${url}/api/v2/standalone-account`));
      for (const status of await Promise.all(requested)) statuses.add(status);
    }
    expect([...statuses]).toEqual([503]);
  }

  async function untilResponded(url: string): Promise<number> {
    const end = performance.now() + LIMIT_MS;
    for (;;) {
      const { status } = await get(url);
      if (status !== 0) return status;
      if (performance.now() > end) throw new Error('no response');
    }
  }

  async function droppedLines(metrics: string): Promise<number> {
    const { text } = await get(metrics);
    return Number(/^flotilla_log_lines_dropped_total (\d+)$/m.exec(text)?.[1]);
  }

  it('on a full disk leaves requests served', async () => {
    const { url, metrics } = await start(openSync('/dev/full', 'w'));
    await requestOften(url);
    expect((await get(`${url}/healthz`)).status).toBe(200);
    // All but the lines that wait for room, at most 1 MiB.
    expect(await droppedLines(metrics)).toBeGreaterThan(REQUESTS / 2);
  });

  it('whose reader has stopped leaves requests served', async () => {
    const { url, metrics } = await start('pipe');
    api!.stderr!.pause();
    await requestOften(url);
    expect((await get(`${url}/healthz`)).status).toBe(200);
    expect(await droppedLines(metrics)).toBeGreaterThan(0);
  });
});
