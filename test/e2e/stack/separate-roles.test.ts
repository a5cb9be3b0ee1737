import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { get } from '../../../tools/harness/stack-programs.ts';
import { createProcessesApart, type ProcessesApart } from './processes-apart.ts';

let apart: ProcessesApart;

beforeAll(async () => {
  apart = await createProcessesApart({ migrated: false });
});

afterAll(() => apart.dispose());

describe('roles alone', () => {
  it('bootstraps the Temporal server from several processes at once', { timeout: 120_000 }, async () => {
    const runs = await Promise.all([1, 2, 3].map(() => apart.command('temporal/bootstrap-main.ts')));
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
  });

  it('brings an empty database up to date from several processes at once', { timeout: 120_000 }, async () => {
    const runs = await Promise.all([1, 2, 3].map(() => apart.command('src/persistence/orm/migrate.ts')));
    expect(runs.map(({ code, output }) => [code, output.includes('up to date')])).toEqual(
      [1, 2, 3].map(() => [0, true]),
    );
  });

  it('serves the agents apart from the clients, each with health checks', { timeout: 180_000 }, async () => {
    const api = await apart.api({ gateway: false });
    const gateway = await apart.gateway();
    const worker = await apart.worker(['fleet-activity']);
    await Promise.all([api, gateway, worker].map((role) => role.ready()));

    const post = (url: string) => fetch(url, { method: 'POST' }).then((response) => response.status);
    expect(await post(`${api.url}/message-system`)).toBe(404);
    expect(await post(`${gateway.url}/message-system`)).not.toBe(404);
    expect((await get(`${gateway.url}/api/v2/login`)).status).toBe(404);
    for (const role of [api, gateway, worker]) {
      expect((await get(`${role.metricsUrl}/healthz`)).status).toBe(200);
      expect(await get(`${role.metricsUrl}/readyz`)).toMatchObject({ status: 200 });
      expect((await get(`${role.metricsUrl}/metrics`)).text).toContain('process_cpu_seconds_total');
    }
    expect((await get(`${worker.metricsUrl}/metrics`)).text).toContain('temporal_');
    const parts = await Promise.all(
      [api, gateway, worker].map(async ({ metricsUrl }) =>
        [...(await get(`${metricsUrl}/metrics`)).text.matchAll(/^flotilla_serves\{part="(.*)"\} 1$/gm)].map(
          ([, part]) => part,
        ),
      ),
    );
    expect(parts).toEqual([['api'], ['gateway'], ['fleet-activity']]);
    for (const role of [api, gateway, worker]) expect(await role.stop()).toBe(0);
    expect(apart.running()).toEqual([]);
  });

  it.each([
    ['api', ['src/server/main.ts']],
    ['gateway', ['src/server/main.ts', '--gateway-only']],
    ['worker', ['workers/main.ts']],
    ['migrate', ['src/persistence/orm/migrate.ts']],
    ['bootstrap', ['temporal/bootstrap-main.ts']],
    ['make-current', ['workers/set-current-version.ts']],
    ['after-restore', ['workers/after-restore.ts']],
  ])('rejects wrong settings of %s in one message', async (_kind, [script = '', ...args]) => {
    const env = { FLOTILLA_DATABASE_URL: 'mysql://x', FLOTILLA_TEMPORAL_ADDRESS: 'nowhere', FLOTILLA_JWT_SECRET: '' };
    const { code, output } = await apart.command(script, { args, env: { ...env, FLOTILLA_LOG_LEVEL: 'loud' } });
    expect(code).toBe(1);
    for (const name of ['FLOTILLA_DATABASE_URL', 'FLOTILLA_TEMPORAL_ADDRESS', 'FLOTILLA_LOG_LEVEL']) {
      expect(output.split(name)).toHaveLength(2);
    }
    expect(output).not.toContain('    at ');
  });

  it.each([
    'src/persistence/orm/migrate.ts',
    'temporal/bootstrap-main.ts',
    'workers/set-current-version.ts',
    'workers/after-restore.ts',
  ])('does nothing in %s on an option that it does not know, and prints its usage on --help', async (script) => {
    const [wrong, extra, help] = await Promise.all(
      ['--hlep', 'now', '--help'].map((arg) => apart.command(script, { args: [arg] })),
    );
    expect(wrong).toMatchObject({ code: 1, output: expect.stringContaining("Unknown option '--hlep'") });
    expect(extra).toMatchObject({ code: 1, output: expect.stringContaining("argument 'now'") });
    expect(help).toMatchObject({ code: 0, output: expect.stringContaining('npm run ') });
    for (const { output } of [wrong!, extra!, help!]) expect(output).not.toContain('"level"');
  });
});
