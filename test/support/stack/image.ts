import { copyFileSync, linkSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const PROJECT = resolve(import.meta.dirname, '../../..');

interface LockedPackage {
  dev?: boolean;
  optional?: boolean;
  devOptional?: boolean;
}

/** Folders and files that the last stage of the Dockerfile takes from the project. */
export function copiedSources(dockerfile: string): string[] {
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
  return [...last.matchAll(/^COPY (?!--from)(\S+) \S+$/gm)].map(([, source]) => source!);
}

/**
 * Assembles what the image holds without a container engine: what the Dockerfile copies, the packages that
 * `npm ci --omit=dev --omit=optional` installs, and the prebuilt bundle. Returns the path of Node in it.
 */
export function assembleImage(directory: string, sources: readonly string[]): string {
  for (const source of [...sources, 'build']) place(join(PROJECT, source), join(directory, source));
  const lock = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  for (const [path, { dev, optional, devOptional }] of Object.entries(lock.packages)) {
    if (path === '' || dev || optional || devOptional) continue;
    place(join(PROJECT, path), join(directory, path), isForeign);
  }
  const node = join(directory, 'node');
  placeFile(process.execPath, node);
  return node;
}

/** Packages inside a package are listed by themselves, and native parts of other platforms are removed. */
function isForeign(path: string): boolean {
  const platform = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-gnu`;
  const release = /^releases\/([^/]+)/.exec(path)?.[1];
  return path.startsWith('node_modules/') || (release !== undefined && release !== platform);
}

function place(from: string, to: string, leaveOut: (path: string) => boolean = () => false): void {
  const entries = tryList(from);
  if (entries === null) placeFile(from, to);
  for (const entry of entries ?? []) {
    const path = join(entry.parentPath, entry.name);
    const inside = relative(from, path);
    if (entry.isFile() && !leaveOut(inside)) placeFile(path, join(to, inside));
  }
}

function tryList(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true, recursive: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return null;
    throw error;
  }
}

/** A link costs nothing; another file system takes a copy. */
function placeFile(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  try {
    linkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    copyFileSync(from, to);
  }
}
