import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^'";]*?from\s*['"]([^'"]+)['"]|(?:^|\n)\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g;

export interface SourceFile {
  /** Path from the root, with forward slashes. */
  path: string;
  /** Files of ours it imports, as paths from the root. */
  files: string[];
  /** Packages and Node built-ins it imports. */
  packages: string[];
}

/** Every TypeScript file below `folders`, with what it imports, type-only imports included. */
export function readSources(root: string, folders: readonly string[]): SourceFile[] {
  return folders.flatMap((folder) => listFiles(join(root, folder))).map((file) => readSource(root, file));
}

/** Cycles among `sources`: each as the files on it, in import order. */
export function findCycles(sources: readonly SourceFile[]): string[][] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const state = new Map<string, 'open' | 'done'>();
  const cycles: string[][] = [];
  const visit = (path: string, trail: string[]): void => {
    if (state.get(path) === 'done') return;
    if (state.get(path) === 'open') {
      cycles.push([...trail.slice(trail.indexOf(path)), path]);
      return;
    }
    state.set(path, 'open');
    for (const next of byPath.get(path)?.files ?? []) visit(next, [...trail, path]);
    state.set(path, 'done');
  };
  for (const source of sources) visit(source.path, []);
  return cycles;
}

function readSource(root: string, file: string): SourceFile {
  const specifiers = [...readFileSync(file, 'utf8').matchAll(IMPORT)].map((m) => (m[1] ?? m[2] ?? m[3])!);
  const own = specifiers.filter((s) => s.startsWith('.'));
  return {
    path: slashed(relative(root, file)),
    files: own.map((s) => slashed(relative(root, resolve(dirname(file), s)))),
    packages: specifiers.filter((s) => !s.startsWith('.')),
  };
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

function slashed(path: string): string {
  return path.replaceAll('\\', '/');
}
