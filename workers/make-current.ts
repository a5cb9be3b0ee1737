import { loadConfig } from '../src/config.ts';
import { createLogger } from '../src/logger.ts';
import { makeBuildCurrent } from '../temporal/deployment.ts';
import { findBundle } from './workflow-bundle.ts';

/** The deploy step: gives workflows to the workers of this build, which must be polling already. Idempotent. */
const WAIT_MS = 60_000;
const logger = createLogger({ level: process.env['FLOTILLA_LOG_LEVEL'] ?? 'info', role: 'deploy' });
try {
  const config = loadConfig(process.env, 'stack');
  if (!config.temporalAddress) throw new Error('FLOTILLA_TEMPORAL_ADDRESS is required');
  const bundle = await findBundle();
  if (!bundle) throw new Error('the workflow bundle is missing or not current: run npm run build:workflows first');
  await makeBuildCurrent(config, bundle.digest, WAIT_MS);
  logger.info({ buildId: bundle.digest }, 'this build gets the work now');
  process.exit(0);
} catch (error) {
  logger.fatal(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
