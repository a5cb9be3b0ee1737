import { constants } from 'node:fs';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BinarySource, resolveBinary } from './binary-resolver.ts';
import { cacheDirectory, findInCache, findOnPath, makeInCache } from './program-cache.ts';
import type { ResolveOptions } from './programs.ts';
import { runTool } from './run-tool.ts';
import { downloadTestServer } from './sdk-download.ts';
import { TEST_SERVER_VERSION } from './versions.ts';

const PROGRAM = { directory: `temporal-test-server-${TEST_SERVER_VERSION}`, file: 'temporal-test-server' };
const COPY_JARS = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
const MAVEN_LIMIT_MS = 10 * 60_000;

const LAUNCHER = `#!/bin/sh
lib="$(dirname "$(readlink -f "$0")")/lib"
exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -cp "$lib/*" io.temporal.testserver.TestServer "$@"
`;

const ADVICE = `Do one of these, then start again:
  - install Java 11 or newer and Maven, so that the jars can be fetched once;
  - name a Temporal test server by FLOTILLA_TEST_SERVER_BIN.`;

/**
 * Finds the time-skipping Temporal server for workflow tests: the named one, the cache, the download that the SDK
 * knows, or the pinned jars from Maven run by Java.
 * @throws {BinaryUnavailable} with every reason when no source has it
 * @see docs/decisions/0008-embedded-stack-and-simulator.md#alternatives
 */
export function resolveTestServer(options: ResolveOptions): Promise<string> {
  const { env } = options;
  const cache = cacheDirectory(env);
  const get = (make: (directory: string) => Promise<void>) => makeInCache(cache, PROGRAM, options.report, make);
  const named: BinarySource = {
    name: 'FLOTILLA_TEST_SERVER_BIN',
    isFinal: true,
    find: () => acceptNamed(options.bin ?? ''),
  };
  const search: BinarySource[] = [
    { name: `cache ${cache}`, find: () => findInCache(cache, PROGRAM) },
    { name: 'official download', find: () => get((directory) => download(directory, options)) },
    { name: 'jars from Maven', find: () => fetchIfMaven(get, options) },
  ];
  return resolveBinary('time-skipping Temporal test server', options.bin === null ? search : [named], ADVICE);
}

async function acceptNamed(path: string): Promise<string> {
  await access(path, constants.X_OK).catch(() => {
    throw new Error(`${path} does not exist or is not executable`);
  });
  return path;
}

async function download(directory: string, { report, env, signal }: ResolveOptions): Promise<void> {
  report('downloading the Temporal test server, once');
  await downloadTestServer(directory, PROGRAM.file, { env, signal });
}

type Get = (make: (directory: string) => Promise<void>) => Promise<string>;

async function fetchIfMaven(get: Get, { report, env, signal }: ResolveOptions) {
  const [java, mvn] = [await findOnPath('java', env), await findOnPath('mvn', env)];
  if (!java || !mvn) throw new Error(`${java ? 'Maven' : 'Java'} is not installed`);
  return get(async (directory) => {
    report('fetching the jars of the Temporal test server with Maven, once');
    const lib = join(directory, 'lib');
    await mkdir(lib);
    const pom = fileURLToPath(new URL('./test-server.pom.xml', import.meta.url));
    const args = ['-B', '-q', '-f', pom, COPY_JARS, `-DoutputDirectory=${lib}`, '-DincludeScope=runtime'];
    await runTool(mvn, args, { env, limitMs: MAVEN_LIMIT_MS, cwd: directory, signal });
    await writeFile(join(directory, PROGRAM.file), LAUNCHER, { mode: 0o755 });
  });
}
