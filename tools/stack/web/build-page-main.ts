import { exitWithError } from '../../../src/process/lifecycle.ts';
import { buildWebPage } from './build-page.ts';

/** `npm run build:web`: compiles the web page ahead of time. */
try {
  process.stdout.write(`The web page is up to date: ${await buildWebPage()}\n`);
  process.exit(0);
} catch (error) {
  exitWithError(error);
}
