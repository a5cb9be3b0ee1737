import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from '@temporalio/worker';
import { digestOf } from '../../src/process/source-digest.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const WORKFLOWS_PATH = path.join(PROJECT, 'workflows', 'index.ts');
const INTERCEPTORS_PATH = path.join(PROJECT, 'workflows', 'interceptors.ts');
const WORKER_SOURCES = ['src', 'temporal', 'workers', 'workflows', 'package.json', 'package-lock.json'];
const FAILURE_CONVERTER = path.join('temporal', 'encryption', 'failure-converter.ts');
const BUNDLED_SOURCES = [
  'workflows',
  path.join('src', 'domain'),
  FAILURE_CONVERTER,
  'workers/process/workflow-bundle.ts',
];
const SDK_MANIFEST = path.join(PROJECT, 'node_modules', '@temporalio', 'workflow', 'package.json');
const PREFIX = 'workflows-';

export interface WorkflowBundle {
  codePath: string;
  digest: string;
  /** Names the build to Temporal: the digest of all code that a worker runs. */
  buildId: string;
}

const BUNDLE_DIRECTORY = path.join(PROJECT, 'build');

/** The bundle of the current workflow code, or null when it has not been built. */
export function findBundle(directory = BUNDLE_DIRECTORY): WorkflowBundle | null {
  const bundle = nameBundle(directory);
  return existsSync(bundle.codePath) ? bundle : null;
}

/** Builds the bundle unless it is up to date. Safe in several processes. @throws when workflow code does not compile */
export async function buildBundle(logger?: Logger, directory = BUNDLE_DIRECTORY): Promise<WorkflowBundle> {
  const bundle = nameBundle(directory);
  if (existsSync(bundle.codePath)) return bundle;
  // The bundler takes half a second to load, which most starts do not need.
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const { code } = await bundleWorkflowCode({
    workflowsPath: WORKFLOWS_PATH,
    workflowInterceptorModules: [INTERCEPTORS_PATH],
    failureConverterPath: path.join(PROJECT, FAILURE_CONVERTER),
    // The sources themselves are half of a bundle that every worker thread parses; stack traces need only positions.
    webpackConfigHook: (config) => ({ ...config, devtool: 'inline-nosources-source-map' }),
    logger: logger ?? new DefaultLogger('WARN'),
  });
  await mkdir(directory, { recursive: true });
  const unfinished = `${bundle.codePath}.${process.pid}`;
  await writeFile(unfinished, escapeNonAscii(code));
  await rename(unfinished, bundle.codePath);
  await removeOthers(directory, path.basename(bundle.codePath));
  return bundle;
}

/** V8 keeps the code in every worker thread, with two bytes for each character once one of them is not in Latin-1. */
function escapeNonAscii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The bundle of the current workflow code, whether or not it has been built. */
export function nameBundle(directory = BUNDLE_DIRECTORY): WorkflowBundle {
  const { version } = JSON.parse(readFileSync(SDK_MANIFEST, 'utf8')) as { version: string };
  const digest = digestOf(PROJECT, BUNDLED_SOURCES, version);
  const buildId = digestOf(PROJECT, WORKER_SOURCES, version);
  return { codePath: path.join(directory, `${PREFIX}${digest}.js`), digest, buildId };
}

async function removeOthers(directory: string, keep: string): Promise<void> {
  const old = (await readdir(directory)).filter(
    (name) => name.startsWith(PREFIX) && name.endsWith('.js') && name !== keep,
  );
  await Promise.all(old.map((name) => rm(path.join(directory, name), { force: true })));
}
