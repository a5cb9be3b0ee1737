import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Config } from '../src/config.ts';
import type { Logger } from '../src/logger.ts';
import { runOneShot } from '../src/one-shot.ts';
import { countBoundWorkflows, makeBuildCurrent, readCurrentBuild } from '../temporal/deployment.ts';
import { findBundle } from './workflow-bundle.ts';

/**
 * The deploy step: gives workflows to the workers of this build, which must be polling already. Idempotent. With
 * `--wait` it returns once the build before has nothing left that no other can end, so that its workers may be stopped.
 */
const WAIT_MS = 60_000;
const PAUSE_MS = 2_000;

await runOneShot('make-current', 'temporal', async (config, logger) => {
  const { values } = parseArgs({ options: { wait: { type: 'boolean' } } });
  const bundle = await findBundle();
  if (!bundle) throw new Error('the workflow bundle is missing or not current: run npm run build:workflows first');
  const before = await readCurrentBuild(config);
  await makeBuildCurrent(config, bundle.digest, WAIT_MS);
  logger.info({ buildId: bundle.digest, before }, 'this build gets the work now');
  if (values.wait && before !== null && before !== bundle.digest) await untilFree(config, before, logger);
});

/** Reports end on the build that began them; however long they take, the log says how many are left. */
async function untilFree(config: Config, build: string, logger: Logger): Promise<void> {
  for (let last = -1; ; await delay(PAUSE_MS)) {
    const left = await countBoundWorkflows(config, build);
    if (left === 0) break;
    if (left !== last) logger.info({ build, left }, 'workflows that only the build before can end');
    last = left;
  }
  logger.info({ build }, 'workers of the build before may be stopped');
}
