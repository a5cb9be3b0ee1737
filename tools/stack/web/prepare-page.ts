import { findWebPage } from '../../../src/process/web-page.ts';
import type { ServiceContext } from '../processes/services.ts';
import { runScript } from '../processes/run-script.ts';

/** Seconds on any machine that works; the API waits for it. */
const LIMIT_MS = 120_000;

/** Builds the web page unless it is up to date, in a process of its own. Never rejects: everything else works without it. */
export async function prepareWebPage(context: ServiceContext, signal: AbortSignal): Promise<void> {
  const { config, data, env, report } = context;
  if (!config.webPage || findWebPage() !== null) return;
  report('the web page is being built');
  const limited = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
  await runScript(['tools/stack/web/build-page-main.ts'], env, data.log('web-page'), limited).catch((error: Error) => {
    if (!signal.aborted) report(`there is no web page, because it could not be built: ${error.message}`);
  });
}

/** A line for the user with the address of the page, if it is served. */
export function describeWebPage(isServed: boolean, publicUrl: string): string[] {
  return isServed && findWebPage() !== null ? [`  Web page       ${publicUrl}/`] : [];
}
