import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { buildWithGo, findGo, type GoBuild } from './go-build.ts';
import { climb, type Step } from './ladder.ts';
import { type CachedProgram, cacheDirectory, findInCache, makeInCache } from './program-cache.ts';
import type { ResolveOptions } from './temporal-cli.ts';
import { TEMPORAL_SERVER_VERSION, TEMPORAL_UI_VERSION } from './versions.ts';

/** The programs of the official Temporal server, for PostgreSQL. */
export interface OfficialPrograms {
  server: string;
  /** Sets up and updates the schema of the server's databases. */
  sqlTool: string;
  /** The web UI. */
  ui: string;
}

const FILES = { server: 'temporal-server', sqlTool: 'temporal-sql-tool', ui: 'temporal-ui-server' } as const;
const PROGRAM: CachedProgram = {
  directory: `temporal-server-${TEMPORAL_SERVER_VERSION}-ui-${TEMPORAL_UI_VERSION}`,
  file: FILES.server,
};

const BUILD: GoBuild = {
  title: `the Temporal server ${TEMPORAL_SERVER_VERSION} for PostgreSQL`,
  module: 'temporal/official-server',
  programs: {
    [FILES.server]: 'go.temporal.io/server/cmd/server',
    [FILES.sqlTool]: 'go.temporal.io/server/cmd/tools/sql',
    [FILES.ui]: 'github.com/temporalio/ui-server/v2/cmd/server',
  },
  ldflags: '-s -w',
  trimPaths: true,
};

const ADVICE = `Do one of these, then start again:
  - install Go 1.26.8 or newer, so that the server can be built once;
  - name a directory with ${Object.values(FILES).join(', ')} by FLOTILLA_TEMPORAL_SERVER_DIR;
  - set FLOTILLA_TEMPORAL_ADDRESS to a Temporal server of your own.`;

/**
 * Finds the official Temporal server, or gets it once and keeps it: the named directory, our cache, a build with Go from
 * the pinned module.
 *
 * @param options - `bin` is a directory
 * @throws {ProgramUnavailable} with every reason when no way works
 */
export async function resolveOfficialServer(options: ResolveOptions): Promise<OfficialPrograms> {
  const env = options.env ?? process.env;
  const cache = cacheDirectory(env);
  const named: Step = { name: 'FLOTILLA_TEMPORAL_SERVER_DIR', final: true, get: () => acceptNamed(options.bin ?? '') };
  const search: Step[] = [
    { name: `cache ${cache}`, get: () => findInCache(cache, PROGRAM) },
    {
      name: 'build with Go',
      async get() {
        const go = await findGo(env);
        return makeInCache(cache, PROGRAM, options.report, (directory) => buildWithGo(go, BUILD, directory, options));
      },
    },
  ];
  const server = await climb('Temporal server for PostgreSQL', options.bin === null ? search : [named], ADVICE);
  const beside = (file: string): string => join(server, '..', file);
  return { server, sqlTool: beside(FILES.sqlTool), ui: beside(FILES.ui) };
}

async function acceptNamed(directory: string): Promise<string> {
  for (const file of Object.values(FILES)) {
    await access(join(directory, file), constants.X_OK).catch(() => {
      throw new Error(`${join(directory, file)} does not exist or is not executable`);
    });
  }
  return join(directory, FILES.server);
}
