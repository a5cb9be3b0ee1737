import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildAside } from '../build-aside.ts';
import { PROJECT } from '../topology/roles.ts';
import { CODE_PREFIX, ENTRIES } from './compiled-code.ts';

/** Packages that load files of their own, are shared with threads or, in tests, patched: they stay as they are. */
const EXTERNAL = [/^@temporalio\//, /^pg(?:\/|$)/, /^pino$/, /^piscina$/, /^swagger-ui-dist/];

/**
 * Compiles modules with what they import into a folder, unless it is there. Safe in several processes; removes old
 * folders. @throws when they do not compile
 */
export async function compileCode(folder: string, entries = ENTRIES, project = PROJECT): Promise<void> {
  if (existsSync(folder)) return;
  await buildAside(folder, (unfinished) => compile(entries, project, unfinished));
  await removeOld(dirname(folder));
}

async function compile(entries: readonly string[], project: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({
    cwd: project,
    input: Object.fromEntries(entries.map((entry) => [entry, join(project, entry)])),
    platform: 'node',
    external: EXTERNAL,
    plugins: [{ name: 'places', transform: (code, id) => withPlaces(code, id, project) }],
    onLog: ignoreLog,
  });
  // Names of classes are those of errors and entities.
  const names = { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js', keepNames: true };
  // V8 keeps the text of a module, with two bytes for each character once one of them is not in Latin-1.
  const text = { comments: false, charset: 'ascii' } as const;
  await bundle.write({ dir: folder, format: 'esm', ...names, ...text });
  await bundle.close();
}

/** Optional packages that are not installed, and dependencies that use `eval`. */
function ignoreLog(): void {}

/** Sources find files that belong to them by their own place, not by that of the compiled code. */
function withPlaces(code: string, file: string, project: string): string | null {
  if (!file.startsWith(project + sep) || file.includes(`${sep}node_modules${sep}`)) return null;
  return code
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(file)))
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href));
}

const COMPILED = new RegExp(`^${CODE_PREFIX}[\\da-f]{16}$`);
/** Stacks that were started before an edit may still run them. */
const KEPT = 3;

async function removeOld(directory: string): Promise<void> {
  const folders = (await readdir(directory)).filter((name) => COMPILED.test(name)).map((name) => join(directory, name));
  const aged = await Promise.all(folders.map(async (folder) => ({ folder, at: (await stat(folder)).mtimeMs })));
  const old = aged.toSorted((a, b) => b.at - a.at).slice(KEPT);
  await Promise.all(old.map(({ folder }) => rm(folder, { recursive: true, force: true })));
}
