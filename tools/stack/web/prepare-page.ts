import { BUILD_DIRECTORY, findWebPage } from '../../../src/process/web-page.ts';
import type { ServiceContext } from '../processes/services.ts';
import { runBuild } from '../processes/run-script.ts';

const BUILD = ['tools/stack/web/build-page-main.ts'];

/** Builds the web page unless it is up to date, in a process of its own. Never rejects: everything else works without it. */
export async function prepareWebPage(
  context: Pick<ServiceContext, 'config' | 'data' | 'env' | 'report'>,
  signal: AbortSignal,
  { directory = BUILD_DIRECTORY, command = BUILD }: { directory?: string; command?: readonly string[] } = {},
): Promise<void> {
  const { config, data, env, report } = context;
  if (!config.webPage || findWebPage(directory) !== null) return;
  report('the web page is being built');
  const otherwise = 'there is no web page, because it could not be built';
  await runBuild(command, { env, report, logFile: data.log('web-page'), otherwise }, signal);
}

/** A line for the user with the address of the page, if it is served. */
export function describeWebPage(isServed: boolean, publicUrl: string): string[] {
  return isServed && findWebPage() !== null ? [`  Web page       ${publicUrl}/`] : [];
}
