import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { COMPOSE_FILE, running } from '../../support/stack/deploy-files.ts';

const FILE = join(COMPOSE_FILE, '../deploy/upgrade.sh');

describe('deploy/upgrade.sh', () => {
  it('rejects a build that only this command names, before it touches anything', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'flotilla-upgrade-'));
    try {
      // A docker that knows .env, and records what else it is called with.
      const docker = join(directory, 'docker');
      const requested = join(directory, 'requested');
      await writeFile(
        docker,
        `#!/bin/sh\nif [ "$2" = config ]; then echo postgres:18.4; echo "flotilla:\${FLOTILLA_IMAGE_TAG:-before}"; else echo "$@" >> ${requested}; exit 1; fi\n`,
        { mode: 0o755 },
      );
      const run = (env: object) =>
        promisify(execFile)('sh', [FILE], { env: { PATH: `${directory}:${process.env['PATH']}`, ...env } }).catch(
          (error: { stderr: string }) => error.stderr,
        );
      expect(await run({ FLOTILLA_IMAGE_TAG: 'next' })).toContain('Write FLOTILLA_IMAGE_TAG=next into .env');
      await expect(readFile(requested)).rejects.toThrow();
      for (const env of [{}, { FLOTILLA_IMAGE_TAG: 'before' }]) expect(await run(env)).not.toContain('Write');
      expect(await readFile(requested, 'utf8')).toBe('compose build migrate\n'.repeat(2));
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('upgrades service by service, in the order of the operators\u2019 guide', async () => {
    const upgrade = await readFile(FILE, 'utf8');
    const steps = [
      ...upgrade.matchAll(/--no-deps (migrate|temporal-bootstrap|make-current)|for service in (.*); do (\w+)/g),
    ];
    expect(steps.map(([, single, several, step]) => single ?? `${step} ${several}`)).toEqual([
      'migrate',
      'temporal-bootstrap',
      'start_beside worker-activity worker-schedule worker-report',
      'make-current',
      'stop_old worker-activity worker-schedule worker-report',
      'start_beside api gateway',
      'stop_old api gateway',
    ]);
    expect(running.map(([name]) => name).toSorted()).toEqual(
      ['api', 'gateway', 'worker-activity', 'worker-report', 'worker-schedule'].toSorted(),
    );
    await promisify(execFile)('sh', ['-n', FILE]);
  });
});
