import { constants } from 'node:fs';
import { access, chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Report } from './binary-resolver.ts';
import { takeMachineLock } from './machine-lock.ts';

/** Cache of programs for all checkouts of this user: `$XDG_CACHE_HOME/flotilla`, else `~/.cache/flotilla`. */
export function cacheDirectory(env: Record<string, string | undefined>): string {
  const base = env['XDG_CACHE_HOME'];
  return join(base?.startsWith('/') ? base : join(homedir(), '.cache'), 'flotilla');
}

/** The first executable of the name in the directories of PATH. */
export async function findOnPath(name: string, env: Record<string, string | undefined>): Promise<string | null> {
  for (const directory of (env['PATH'] ?? '').split(delimiter)) {
    const path = join(directory, name);
    const usable =
      directory !== '' &&
      (await access(path, constants.X_OK).then(
        () => true,
        () => false,
      ));
    if (usable) return path;
  }
  return null;
}

/** A program in the cache, in its own directory with everything it needs. */
export interface CachedProgram {
  /** Directory under the cache; has the version in its name. */
  directory: string;
  file: string;
}

/** The path of the program when the cache has it, else null. */
export async function findInCache(cache: string, program: CachedProgram): Promise<string | null> {
  const path = join(cache, program.directory, program.file);
  return access(path, constants.X_OK).then(
    () => path,
    () => null,
  );
}

/**
 * Creates a program and puts it into the cache atomically. Processes that need the same program at the same time wait
 * for the one that creates it.
 * @param make - fills the empty directory with the program
 * @throws what `make` throws
 */
export async function makeInCache(
  cache: string,
  program: CachedProgram,
  report: Report,
  make: (directory: string) => Promise<void>,
): Promise<string> {
  const target = join(cache, program.directory);
  await mkdir(cache, { recursive: true });
  const release = await waitForLock(target, report);
  try {
    const found = await findInCache(cache, program);
    if (found) return found;
    const draft = await mkdtemp(join(cache, `.${program.directory}-`));
    try {
      await make(draft);
      await chmod(join(draft, program.file), 0o755);
      await chmod(draft, 0o755);
      await rm(target, { recursive: true, force: true });
      await rename(draft, target);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
    return join(target, program.file);
  } finally {
    release();
  }
}

async function waitForLock(name: string, report: Report): Promise<() => void> {
  for (let tries = 0; ; tries += 1) {
    const release = await takeMachineLock(name);
    if (release) return release;
    if (tries % 20 === 0) report('another Flotilla process is getting the same program; waiting for it');
    await sleep(500);
  }
}
