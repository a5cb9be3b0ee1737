import { setTimeout as delay } from 'node:timers/promises';
import { runCommand } from '../src/process/command.ts';
import type { Config } from '../src/process/config.ts';
import type { Logger } from '../src/process/logger.ts';
import {
  countPinnedElsewhere,
  makeBuildCurrent,
  readCurrentBuild,
  waitForPollers,
} from '../temporal/client/deployment.ts';
import { throttledErrorLog } from './telemetry/throttled-error-log.ts';
import { findBundle } from './process/workflow-bundle.ts';

const HELP = `npm run worker:set-current [-- --wait]

The deploy step: gives workflows to the workers of this build. Waits up to a minute until they poll every task queue, and
fails when they do not. Can be repeated.

  --wait  return once no workflow is left that only a previous build can end, so that their workers may be stopped
  --help  this text`;

const WAIT_MS = 60_000;
const PAUSE_MS = 2_000;

await runCommand(
  { name: 'set-current-version', role: 'temporal', help: HELP, env: process.env, flags: ['wait'] },
  async (config, logger, flags) => {
    const bundle = findBundle();
    if (!bundle) throw new Error('the workflow bundle is missing or not current: run npm run build:workflows first');
    const before = await readCurrentBuild(config);
    await waitForPollers(config, bundle.buildId, WAIT_MS);
    await makeBuildCurrent(config, bundle.buildId, WAIT_MS);
    const outcome = before === bundle.buildId ? 'this build is already current' : 'this build is current now';
    logger.info({ buildId: bundle.buildId, before }, outcome);
    if (flags.has('wait')) await waitForDrain(config, bundle.buildId, logger);
  },
);

/** Waits for reports, which end on the build that started them; logs how many are left. Tolerates server outages. */
async function waitForDrain(config: Config, buildId: string, logger: Logger): Promise<void> {
  const logError = throttledErrorLog(logger, { step: 'wait' });
  for (let last = -1; ; await delay(PAUSE_MS)) {
    try {
      const left = await countPinnedElsewhere(config, buildId);
      logError(null);
      if (left === 0) break;
      if (left !== last) logger.info({ left }, 'workflows that only previous builds can end');
      last = left;
    } catch (error) {
      logError(error);
    }
  }
  logger.info({ buildId }, 'workers of previous builds may be stopped');
}
