import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Report } from './binary-resolver.ts';
import { findOnPath } from './program-cache.ts';
import { runTool, type ToolOptions } from './run-tool.ts';

/** A build from a module of this repository, whose go.mod and go.sum pin everything. */
export interface GoBuild {
  /** Name of what is built, for people. */
  title: string;
  module: string;
  /** Programs by file name: the package of each. */
  programs: Readonly<Record<string, string>>;
  ldflags: string;
  /** Leave the paths of the building machine out. */
  trimPaths?: boolean;
}

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const BUILD_LIMIT_MS = 45 * 60_000;
const REPORT_EVERY_MS = 5000;

/** Path of the Go tool. @throws when there is none */
export async function findGo(env: Record<string, string | undefined>): Promise<string> {
  const go = (await findOnPath('go', env)) ?? (await findOnPath('go', { PATH: '/usr/local/go/bin:/usr/lib/go/bin' }));
  if (!go) throw new Error('Go is not installed');
  return go;
}

/**
 * Builds the programs into a directory, with progress: for the first time it takes minutes.
 * @throws with the end of the output when it fails
 */
export async function buildWithGo(
  go: string,
  build: GoBuild,
  directory: string,
  { report, env, signal }: Pick<ToolOptions, 'env' | 'signal'> & { report: Report },
): Promise<void> {
  const startedAt = performance.now();
  let lines = 0;
  const reportProgress = (): void => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    report(`building ${build.title} with Go, once (some minutes): ${seconds} s, ${lines} steps done`);
  };
  reportProgress();
  const timer = setInterval(reportProgress, REPORT_EVERY_MS);
  const paths = build.trimPaths ? ['-trimpath'] : [];
  try {
    for (const [file, program] of Object.entries(build.programs)) {
      const output = join(directory, file);
      await runTool(go, ['build', '-v', ...paths, '-ldflags', build.ldflags, '-o', output, program], {
        cwd: join(PROJECT, build.module),
        // Overrides settings of the user that would change what is built; proxies and caches stay.
        env: {
          ...env,
          GOFLAGS: '-mod=readonly -buildvcs=false',
          GOWORK: 'off',
          CGO_ENABLED: '0',
          GOOS: '',
          GOARCH: '',
        },
        limitMs: BUILD_LIMIT_MS,
        signal,
        onError: (text) => {
          lines += text.split('\n').length - 1;
        },
      });
    }
  } finally {
    clearInterval(timer);
  }
  report(`${build.title} is built and kept in the cache`);
}
