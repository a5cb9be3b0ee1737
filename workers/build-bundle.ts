import { createLogger } from '../src/process/logger.ts';
import { buildBundle } from './workflow-bundle.ts';

/** `npm run build:workflows`: compiles the workflow code ahead of time. */
const logger = createLogger({ level: process.env['FLOTILLA_LOG_LEVEL']?.trim() || 'info', role: 'build' });
try {
  const { codePath, digest } = await buildBundle();
  logger.info({ codePath, digest }, 'the workflow bundle is up to date');
  process.exit(0);
} catch (error) {
  logger.fatal({ err: error }, 'the workflow code cannot be bundled');
  process.exit(1);
}
