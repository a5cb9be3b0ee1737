import { exitWithError } from '../src/process/lifecycle.ts';
import { buildBundle } from './process/workflow-bundle.ts';

/** `npm run build:workflows`: compiles the workflow code ahead of time. */
try {
  const { codePath } = await buildBundle();
  process.stdout.write(`The workflow bundle is up to date: ${codePath}\n`);
  process.exit(0);
} catch (error) {
  exitWithError(error);
}
