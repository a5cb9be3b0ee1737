import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { digestOf } from './source-digest.ts';

const PROJECT = resolve(import.meta.dirname, '../..');

/** Folder of the sources of the web page. */
export const WEB_SOURCES = join(PROJECT, 'web');

/** What a built page depends on. */
export const BUILT_FROM = [
  'web',
  'packages/client',
  'package-lock.json',
  'tsconfig.json',
  'tools/stack/web/build-page.ts',
];
/** Raise it to have every page built again. */
const VERSION = '1';

export const PAGE_PREFIX = 'web-';
export const BUILD_DIRECTORY = join(PROJECT, 'build');

/** Folder of the web page as it is built from the current sources. */
export function nameWebPage(directory = BUILD_DIRECTORY): string {
  return join(directory, `${PAGE_PREFIX}${digestOf(PROJECT, BUILT_FROM, VERSION)}`);
}

/** The folder if that page has been built; otherwise null. */
export function findWebPage(directory = BUILD_DIRECTORY): string | null {
  if (!existsSync(WEB_SOURCES)) return null;
  const folder = nameWebPage(directory);
  return existsSync(folder) ? folder : null;
}
