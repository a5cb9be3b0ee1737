import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { buildAside } from '../build-aside.ts';
import { BUILD_DIRECTORY, nameWebPage, PAGE_PREFIX, WEB_SOURCES } from '../../../src/process/web-page.ts';

const COMPRESSIBLE = /\.(?:html|js|css|svg|json|txt|webmanifest)$/;
/** Less fits into one packet anyway. */
const MIN_BYTES = 1024;

/**
 * Builds the web page unless it is up to date, for `NODE_ENV`. Safe in several processes. @throws when it does not compile
 */
export async function buildWebPage(directory = BUILD_DIRECTORY, sources = WEB_SOURCES): Promise<string> {
  const folder = nameWebPage(directory);
  if (existsSync(folder)) return folder;
  await buildAside(folder, async (unfinished) => {
    await compile(sources, unfinished);
    await compressAll(unfinished);
  });
  await removeOthers(directory, basename(folder));
  return folder;
}

async function compile(root: string, folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const { build } = await import('vite');
  await build({ root, logLevel: 'warn', build: { outDir: folder, emptyOutDir: true } });
}

/** Writes what the server sends to clients that take compressed files. */
async function compressAll(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && COMPRESSIBLE.test(entry.name));
  await Promise.all(files.map(({ parentPath, name }) => compress(join(parentPath, name))));
}

async function compress(file: string): Promise<void> {
  const content = await readFile(file);
  if (content.length < MIN_BYTES) return;
  await writeFile(`${file}.br`, await promisify(brotliCompress)(content));
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
}

const BUILT = new RegExp(`^${PAGE_PREFIX}[\\da-f]{16}$`);

/** A process that serves one of them has read all of it. */
async function removeOthers(directory: string, keep: string): Promise<void> {
  const old = (await readdir(directory)).filter((name) => BUILT.test(name) && name !== keep);
  await Promise.all(old.map((name) => rm(join(directory, name), { recursive: true, force: true })));
}
