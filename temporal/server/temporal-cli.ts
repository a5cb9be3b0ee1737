import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { buildWithGo, findGo, type GoBuild } from './go-build.ts';
import { climb, type Report, type Step } from './ladder.ts';
import { cacheDirectory, findInCache, findOnPath, makeInCache } from './program-cache.ts';
import { runTool } from './run-tool.ts';
import { downloadBySdk } from './sdk-download.ts';
import { compareVersions, parseCliVersion, TEMPORAL_CLI_VERSION } from './versions.ts';

export interface ResolveOptions {
  /** The program that the user names by setting; nothing else is tried then. */
  bin: string | null;
  report: Report;
  env?: Record<string, string | undefined>;
  signal?: AbortSignal;
}

const PROGRAM = { directory: `temporal-cli-${TEMPORAL_CLI_VERSION}`, file: 'temporal' };
const BUILD: GoBuild = {
  title: `the Temporal CLI ${TEMPORAL_CLI_VERSION}`,
  module: 'temporal',
  programs: { [PROGRAM.file]: 'github.com/temporalio/cli/cmd/temporal' },
  ldflags: `-X github.com/temporalio/cli/temporalcli.Version=${TEMPORAL_CLI_VERSION}`,
};

const ADVICE = `Do one of these, then start again:
  - install the Temporal CLI ${TEMPORAL_CLI_VERSION} or newer and put it on the PATH, or name it by FLOTILLA_TEMPORAL_BIN;
  - install Go 1.25 or newer, so that the CLI can be built once;
  - set FLOTILLA_TEMPORAL_ADDRESS to a Temporal server of your own.`;

/**
 * Finds a Temporal CLI, or gets one once and keeps it: the named one, `temporal` on the PATH, our cache, the download
 * that the SDK knows, a build with Go from the pinned module.
 *
 * @throws {ProgramUnavailable} with every reason when no way works
 * @see design.md 3, "Real components and how each starts"
 */
export function resolveTemporalCli(options: ResolveOptions): Promise<string> {
  const env = options.env ?? process.env;
  const cache = cacheDirectory(env);
  const get = (make: (directory: string) => Promise<void>) => makeInCache(cache, PROGRAM, options.report, make);
  const named: Step = { name: 'FLOTILLA_TEMPORAL_BIN', final: true, get: () => acceptCli(options.bin ?? '') };
  const search: Step[] = [
    { name: '"temporal" on the PATH', get: () => findOnPath('temporal', env).then((p) => (p ? acceptCli(p) : null)) },
    { name: `cache ${cache}`, get: () => findInCache(cache, PROGRAM) },
    { name: 'official download', get: () => get((directory) => download(directory, options)) },
    {
      name: 'build with Go',
      async get() {
        const go = await findGo(env);
        return get((directory) => buildWithGo(go, BUILD, directory, options));
      },
    },
  ];
  return climb('Temporal CLI', options.bin === null ? search : [named], ADVICE);
}

/** The versions of the CLI at the path. @throws when it does not run or is no Temporal CLI */
export async function cliVersion(path: string): Promise<{ cli: string; server: string }> {
  const version = parseCliVersion(await runTool(path, ['--version'], { limitMs: 20_000 }));
  if (!version) throw new Error(`${path} is not a Temporal CLI: "${path} --version" prints no version of one`);
  return version;
}

async function acceptCli(path: string): Promise<string> {
  await access(path, constants.X_OK).catch(() => {
    throw new Error(`${path} does not exist or is not executable`);
  });
  const { cli } = await cliVersion(path);
  if (compareVersions(cli, TEMPORAL_CLI_VERSION) >= 0) return path;
  throw new Error(`${path} has version ${cli}, older than ${TEMPORAL_CLI_VERSION}`);
}

async function download(directory: string, { report, signal }: ResolveOptions): Promise<void> {
  report(`downloading the Temporal CLI ${TEMPORAL_CLI_VERSION}, once`);
  await downloadBySdk('dev-server', TEMPORAL_CLI_VERSION, directory, PROGRAM.file, signal);
  await cliVersion(join(directory, PROGRAM.file));
}
