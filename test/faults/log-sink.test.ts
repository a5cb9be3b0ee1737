import { type ChildProcess, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { freePorts } from '../support/ports.ts';
import { get, inheritedEnvironment } from '../support/stack-programs.ts';

const PROJECT = join(import.meta.dirname, '../..');
/** Several times what a pipe takes that nobody reads from. */
const REQUESTS = 600;
const AT_ONCE = 10;
const LIMIT_MS = 60_000;

/** An API without servers behind it: it answers, if only 503, and logs every request. */
describe('row 28: a log that nobody takes', { timeout: 300_000 }, () => {
  let api: ChildProcess | null = null;

  afterEach(() => {
    api?.kill('SIGKILL');
  });

  async function start(log: 'pipe' | number): Promise<string> {
    const [port, metricsPort] = await freePorts(2);
    api = spawn(process.execPath, ['--import', './src/require-node.mjs', 'src/main.ts'], {
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
      },
      stdio: ['ignore', 'ignore', log],
    });
    const url = `http://127.0.0.1:${port}`;
    while ((await get(`${url}/healthz`)).status !== 200) {
      if (api.exitCode !== null) throw new Error(`it ended with code ${api.exitCode}`);
      await sleep(100);
    }
    return url;
  }

  /** Many requests that are logged, each asked until it is answered. @throws when one is not answered in time */
  async function askOften(url: string): Promise<void> {
    for (let done = 0; done < REQUESTS; done += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, () => untilAnswered(`${url}/api/v2/login/methods`)));
    }
  }

  async function untilAnswered(url: string): Promise<void> {
    const end = performance.now() + LIMIT_MS;
    while ((await get(url)).status === 0) if (performance.now() > end) throw new Error('nobody answers');
  }

  it('on a full disk leaves requests served', async () => {
    const url = await start(openSync('/dev/full', 'w'));
    await askOften(url);
    expect((await get(`${url}/healthz`)).status).toBe(200);
  });

  it('behind a reader that stopped leaves requests served', async () => {
    const url = await start('pipe');
    api!.stderr!.pause();
    await askOften(url);
    expect((await get(`${url}/healthz`)).status).toBe(200);
  });
});
