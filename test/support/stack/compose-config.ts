import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildWithGo, findGo } from '../../../tools/temporal-server/go-build.ts';
import { cacheDirectory, findInCache, makeInCache } from '../../../tools/temporal-server/program-cache.ts';

/** Checks a compose file; rejects with what is wrong. */
export type ComposeCheck = (file: string) => Promise<void>;

const run = promisify(execFile);
const PROGRAM = { directory: 'compose-check-2.16.2', file: 'compose-check' };
const BUILD = {
  title: 'the check of compose files',
  module: 'test/compose-check',
  programs: { [PROGRAM.file]: '.' },
  ldflags: '-s -w',
  trimPaths: true,
};

/**
 * `docker compose config` where Docker has it, else a program on the same loader, built once with Go and kept.
 *
 * @throws with the reason when this machine has neither
 */
export async function findComposeCheck(): Promise<ComposeCheck> {
  if (await hasDockerCompose()) {
    return async (file) => void (await run('docker', ['compose', '-f', file, 'config', '--quiet']));
  }
  const cache = cacheDirectory();
  const report = (message: string): void => console.log(`[compose] ${message}`);
  const program =
    (await findInCache(cache, PROGRAM)) ??
    (await makeInCache(cache, PROGRAM, report, async (directory) => {
      await buildWithGo(await findGo(process.env), BUILD, directory, { report });
    }));
  return async (file) => void (await run(program, [file], { cwd: join(import.meta.dirname, '../../..') }));
}

async function hasDockerCompose(): Promise<boolean> {
  return run('docker', ['compose', 'version']).then(
    () => true,
    () => false,
  );
}
