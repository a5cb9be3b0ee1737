import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Report } from '../../tools/temporal-server/binary-resolver.ts';
import { cacheDirectory, findInCache, findOnPath, makeInCache } from '../../tools/temporal-server/program-cache.ts';
import { runTool } from '../../tools/temporal-server/run-tool.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
/** The pinned wheels are for these. */
const PYTHON_NAMES = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11'];
const OLDEST_MINOR = 11;
const NEWEST_MINOR = 14;
const INSTALL_LIMIT_MS = 10 * 60_000;

/** An environment is moved when it is whole, so that nothing in it may name its own place. */
const LAUNCHER = `#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/venv/bin/python" -I -B -c 'from schemathesis.cli import schemathesis; schemathesis()' "$@"
`;

/** Schemathesis cannot be installed on this machine; the message has the reason. */
export class NoSchemathesis extends Error {}

/**
 * The path of the pinned schemathesis, in a Python environment of its own in our cache, made when it is not there yet.
 * Its key is the digest of the requirements and the Python it was made with.
 *
 * @throws {NoSchemathesis} where there is no fitting Python, or no registry to get the pinned packages from
 * @throws when what the registry gives has not the pinned digest
 */
export async function findSchemathesis(report: Report): Promise<string> {
  const python = await findPython();
  const requirements = readFileSync(REQUIREMENTS);
  const key = createHash('sha256').update(requirements).update(python.identity).update(LAUNCHER).digest('hex');
  const program = { directory: `schemathesis-${key.slice(0, 16)}`, file: 'schemathesis' };
  const cache = cacheDirectory(process.env);
  const found = await findInCache(cache, program);
  return found ?? makeInCache(cache, program, report, (directory) => install(python.path, directory, report));
}

async function findPython(): Promise<{ path: string; identity: string }> {
  const reasons: string[] = [];
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) {
    throw new NoSchemathesis(
      `the pinned packages are for Linux on x64 and arm64, not ${process.platform} ${process.arch}`,
    );
  }
  for (const name of PYTHON_NAMES) {
    const path = await findOnPath(name, process.env);
    if (!path) continue;
    const code = 'import sys, venv, ensurepip; print(sys.version_info[1], sys.version, sys.base_prefix)';
    const response = await runTool(path, ['-I', '-c', code], { env: process.env, limitMs: 60_000 }).catch(
      (error: Error) => error,
    );
    if (response instanceof Error) {
      reasons.push(`${name}: ${response.message}`);
      continue;
    }
    const minor = Number(response.split(' ')[0]);
    if (minor >= OLDEST_MINOR && minor <= NEWEST_MINOR) return { path, identity: response };
    reasons.push(`${name} is 3.${minor}`);
  }
  const wanted = `Python 3.${OLDEST_MINOR} to 3.${NEWEST_MINOR} with venv is needed`;
  throw new NoSchemathesis(reasons.length > 0 ? `${wanted}; ${reasons.join('; ')}` : `${wanted}; there is no python3`);
}

async function install(python: string, directory: string, report: Report): Promise<void> {
  report('making a Python environment with schemathesis, once');
  const environment = join(directory, 'venv');
  await runTool(python, ['-I', '-m', 'venv', environment], { env: process.env, limitMs: INSTALL_LIMIT_MS });
  const startedAt = performance.now();
  const progress = setInterval(() => {
    report(`getting the pinned Python packages: ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }, 10_000);
  let printed = '';
  const options = ['--require-hashes', '--only-binary', ':all:', '--no-deps', '--no-input', '--no-cache-dir'];
  try {
    await runTool(join(environment, 'bin/python'), ['-m', 'pip', 'install', ...options, '-r', REQUIREMENTS], {
      env: process.env,
      limitMs: INSTALL_LIMIT_MS,
      onError: (text) => {
        printed += text;
      },
    });
  } catch (error) {
    if (!UNREACHABLE.test(printed)) throw error;
    throw new NoSchemathesis(`the package registry cannot be reached: ${(error as Error).message}`);
  } finally {
    clearInterval(progress);
  }
  await writeFile(join(directory, 'schemathesis'), LAUNCHER, { mode: 0o755 });
}

const UNREACHABLE =
  /NewConnectionError|ConnectTimeout|ReadTimeout|Read timed out|ProxyError|NameResolution|Connection (refused|reset|aborted)|Could not fetch URL/;
