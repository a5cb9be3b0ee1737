import { loadConfig } from '../src/process/config.ts';
import { exitWithError } from '../src/process/lifecycle.ts';
import { createLogger } from '../src/process/logger.ts';
import { buildBundle } from './workflow-bundle.ts';

/** `npm run build:workflows`: compiles the workflow code ahead of time. */
try {
  const { logLevel } = loadConfig(process.env, 'stack');
  const { codePath, digest } = await buildBundle();
  createLogger({ level: logLevel, role: 'build' }).info({ codePath, digest }, 'the workflow bundle is up to date');
  process.exit(0);
} catch (error) {
  exitWithError(error);
}
