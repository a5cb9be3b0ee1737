import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../../src/process/config.ts';
import { nameWebPage } from '../../../../src/process/web-page.ts';
import type { DataDirectory } from '../../../../tools/stack/data-directory.ts';
import { prepareWebPage } from '../../../../tools/stack/web/prepare-page.ts';
import { temporaryDirectory } from '../../../support/common/process.ts';

/** What is reported when a start prepares the page by a program. */
async function prepare(
  code: string,
  { env = {}, isBuilt = false, signal = new AbortController().signal }: PrepareOptions = {},
): Promise<string[]> {
  const directory = await temporaryDirectory();
  if (isBuilt) await mkdir(nameWebPage(directory));
  const reported: string[] = [];
  const context = {
    config: loadConfig(env, 'stack'),
    data: { log: (name: string) => join(directory, `${name}.log`) } as DataDirectory,
    env: {},
    report: (message: string) => void reported.push(message),
  };
  await prepareWebPage(context, signal, { directory, command: ['-e', code] });
  return reported;
}

interface PrepareOptions {
  env?: Record<string, string>;
  isBuilt?: boolean;
  signal?: AbortSignal;
}

const FAILS = 'process.stderr.write("main.tsx: no such module"); process.exit(1)';

describe('the web page at a start', () => {
  it('is built when there is none', async () => {
    expect(await prepare('')).toEqual(['the web page is being built']);
  });

  it('is left out with the reason when it cannot be built', async () => {
    const [, reason, ...more] = await prepare(FAILS);
    expect(reason).toMatch(/^there is no web page, because it could not be built: .*main\.tsx: no such module/s);
    expect(more).toEqual([]);
  });

  it('is not built when it is up to date, or not wanted', async () => {
    expect(await prepare(FAILS, { isBuilt: true })).toEqual([]);
    expect(await prepare(FAILS, { env: { FLOTILLA_WEB_PAGE: 'false' } })).toEqual([]);
  });

  it('does not delay the end of a start', async () => {
    const signal = AbortSignal.timeout(200);
    expect(await prepare('setTimeout(() => undefined, 60_000)', { signal })).toEqual(['the web page is being built']);
  });
});
