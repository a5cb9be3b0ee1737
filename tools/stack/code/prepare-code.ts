import { existsSync } from 'node:fs';
import { runBuild } from '../processes/run-script.ts';
import type { ServiceContext } from '../processes/services.ts';

const COMPILE = ['tools/stack/code/compile-main.ts'];

/**
 * Compiles the code unless that is up to date, in a process of its own: loading a thousand sources takes four times the
 * processor time. @returns its folder; null where it does not compile, and the sources run instead
 */
export async function prepareCode(
  { data, env, report }: Pick<ServiceContext, 'data' | 'env' | 'report'>,
  folder: string,
  signal: AbortSignal,
  command: readonly string[] = COMPILE,
): Promise<string | null> {
  if (existsSync(folder)) return folder;
  report('the code is being compiled');
  const otherwise = 'the sources run, because they could not be compiled';
  await runBuild([...command, folder], { env, report, logFile: data.log('code'), otherwise }, signal);
  return existsSync(folder) ? folder : null;
}
