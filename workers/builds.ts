import type { Config } from '../src/process/config.ts';
import type { Logger } from '../src/process/logger.ts';
import { makeBuildCurrent, readCurrentBuild } from '../temporal/deployment.ts';
import { buildBundle, findBundle, type WorkflowBundle } from './workflow-bundle.ts';

const BUILD_LIMIT_MS = 20_000;

/** The workflow bundle of this code. In production it must exist; elsewhere it is built on demand. */
export async function currentBundle(isProduction: boolean, logger: Logger): Promise<WorkflowBundle> {
  const found = await findBundle();
  if (found) return found;
  if (isProduction) {
    throw new Error('the workflow bundle is missing or not current: run npm run build:workflows before the start');
  }
  logger.info('building the workflow bundle');
  return await buildBundle();
}

/** Makes this build current: always in the embedded stack, elsewhere only if no build is. Later, deploys do it. */
export async function makeCurrentIfAllowed(config: Config, buildId: string, logger: Logger): Promise<void> {
  const current = await readCurrentBuild(config);
  if (current === buildId) return;
  if (config.embedded || current === null) await makeBuildCurrent(config, buildId, BUILD_LIMIT_MS);
  else logger.warn({ buildId, current }, 'this build gets no work before the deploy step makes it current');
}
