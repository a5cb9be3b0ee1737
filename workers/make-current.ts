import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../src/config.ts';
import type { Logger } from '../src/logger.ts';
import { runOneShot } from '../src/one-shot.ts';
import { countBoundWorkflows, makeBuildCurrent, readCurrentBuild, untilServed } from '../temporal/deployment.ts';
import { findBundle } from './workflow-bundle.ts';

const HELP = `npm run worker:make-current [-- --wait]

The deploy step: gives workflows to the workers of this build. Waits up to a minute until they poll every task queue, and
fails when they do not. Can be repeated.

  --wait  return once the build before has nothing left that no other can end, so that its workers may be stopped
  --help  this text`;

const WAIT_MS = 60_000;
const PAUSE_MS = 2_000;

/** `npm run worker:make-current` */
await runOneShot(
  { name: 'make-current', role: 'temporal', help: HELP, flags: ['wait'] },
  async (config, logger, flags) => {
    const bundle = await findBundle();
    if (!bundle) throw new Error('the workflow bundle is missing or not current: run npm run build:workflows first');
    const before = await readCurrentBuild(config);
    await untilServed(config, bundle.digest, WAIT_MS);
    await makeBuildCurrent(config, bundle.digest, WAIT_MS);
    logger.info({ buildId: bundle.digest, before }, 'this build gets the work now');
    if (flags.has('wait') && before !== null && before !== bundle.digest) await untilFree(config, before, logger);
  },
);

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
