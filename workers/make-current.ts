import { runOneShot } from '../src/one-shot.ts';
import { makeBuildCurrent } from '../temporal/deployment.ts';
import { findBundle } from './workflow-bundle.ts';

/** The deploy step: gives workflows to the workers of this build, which must be polling already. Idempotent. */
const WAIT_MS = 60_000;

await runOneShot('make-current', 'temporal', async (config, logger) => {
  const bundle = await findBundle();
  if (!bundle) throw new Error('the workflow bundle is missing or not current: run npm run build:workflows first');
  await makeBuildCurrent(config, bundle.digest, WAIT_MS);
  logger.info({ buildId: bundle.digest }, 'this build gets the work now');
});
