import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BinarySource, type Report, resolveBinary } from './binary-resolver.ts';
import { buildWithGo, findGo, type GoBuild } from './go-build.ts';
import { downloadOfficial } from './official-download.ts';
import { type CachedProgram, cacheDirectory, findInCache, makeInCache } from './program-cache.ts';
import { TEMPORAL_SERVER_VERSION, TEMPORAL_UI_VERSION } from './versions.ts';

/** The programs of a Temporal server. */
export interface TemporalPrograms {
  server: string;
  /** Whether the server is the build with the web UI in it, or the official one. */
  hasUi: boolean;
  /** Sets up and updates the schema of a server on PostgreSQL. */
  sqlTool: string;
}

export interface ResolveOptions {
  /** The file or directory named by a setting; nothing else is tried then. */
  bin: string | null;
  report: Report;
  /** Where programs are looked for, and what those run with that make them. */
  env: Record<string, string | undefined>;
  signal?: AbortSignal;
}

const OURS = 'flotilla-temporal';
const OFFICIAL = 'temporal-server';
const SQL_TOOL = 'temporal-sql-tool';
const MODULE = join('tools', 'temporal-server', 'program');

const BUILD: GoBuild = {
  title: `the Temporal server ${TEMPORAL_SERVER_VERSION}`,
  module: MODULE,
  programs: { [OURS]: '.', [SQL_TOOL]: 'go.temporal.io/server/cmd/tools/sql' },
  ldflags: '-s -w',
  trimPaths: true,
};

const ADVICE = `Do one of these, then start again:
  - install Go 1.21 or newer, so that the server can be built once;
  - let this machine reach github.com, where the official server can be downloaded, which has no web UI;
  - name a directory with the programs by FLOTILLA_TEMPORAL_SERVER_DIR;
  - set FLOTILLA_TEMPORAL_ADDRESS to a Temporal server of your own.`;

/**
 * Finds the programs of the Temporal server: the named directory, the cache, a build with Go from the pinned module,
 * and without Go the official release, which has no web UI.
 * @throws {BinaryUnavailable} with every reason when no source has them
 */
export async function resolveTemporal(options: ResolveOptions): Promise<TemporalPrograms> {
  const { env } = options;
  const cache = cacheDirectory(env);
  const [ours, official] = [await builtProgram(), downloadedProgram()];
  const get = (program: CachedProgram, make: (directory: string) => Promise<void>) =>
    makeInCache(cache, program, options.report, make);
  const named: BinarySource = {
    name: 'FLOTILLA_TEMPORAL_SERVER_DIR',
    isFinal: true,
    find: () => acceptNamed(options.bin ?? ''),
  };
  const search: BinarySource[] = [
    { name: `cache ${cache}`, find: () => findInCache(cache, ours) },
    {
      name: 'build with Go',
      async find() {
        const go = await findGo(env);
        return get(ours, (directory) => buildWithGo(go, BUILD, directory, options));
      },
    },
    { name: `cache ${cache} of downloads`, find: () => findInCache(cache, official) },
    { name: 'official download', find: () => get(official, (directory) => downloadOfficial(directory, options)) },
  ];
  const server = await resolveBinary('Temporal server', options.bin === null ? search : [named], ADVICE);
  return { server, hasUi: server.endsWith(OURS), sqlTool: join(dirname(server), SQL_TOOL) };
}

/** Its directory contains a digest of the sources, so that a changed build is another program. */
async function builtProgram(): Promise<CachedProgram> {
  const folder = fileURLToPath(new URL('./program', import.meta.url));
  const hash = createHash('sha256');
  for (const name of (await readdir(folder)).sort()) hash.update(name).update(await readFile(join(folder, name)));
  const digest = hash.digest('hex').slice(0, 12);
  return { directory: `temporal-${TEMPORAL_SERVER_VERSION}-ui-${TEMPORAL_UI_VERSION}-${digest}`, file: OURS };
}

function downloadedProgram(): CachedProgram {
  return { directory: `temporal-official-${TEMPORAL_SERVER_VERSION}`, file: OFFICIAL };
}

async function acceptNamed(directory: string): Promise<string> {
  const isThere = (file: string): Promise<boolean> =>
    access(join(directory, file), constants.X_OK).then(
      () => true,
      () => false,
    );
  for (const file of [OURS, OFFICIAL]) if (await isThere(file)) return join(directory, file);
  throw new Error(`${directory} has neither ${OURS} nor ${OFFICIAL}, or they are not executable`);
}
