import { existsSync } from 'node:fs';
import { runScript } from '../processes/run-script.ts';
import type { ServiceContext } from '../processes/services.ts';

/** Seconds on any machine that works; API and worker wait for it. */
const LIMIT_MS = 120_000;
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
  const limited = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
  await runScript([...command, folder], env, data.log('code'), limited).catch((error: Error) => {
    if (!signal.aborted) report(`the sources run, because they could not be compiled: ${error.message}`);
  });
  return existsSync(folder) ? folder : null;
}
