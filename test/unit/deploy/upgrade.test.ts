import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { COMPOSE_FILE, running } from '../../support/compose-file.ts';

const FILE = join(COMPOSE_FILE, '../deploy/upgrade.sh');

describe('deploy/upgrade.sh', () => {
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
