import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { planMigrations } from './migration-rules.ts';

/**
 * What one released version left in the world: schemas that its migrations made, and workflows that go on for weeks.
 * Neither may be edited afterwards; digests tell.
 */
export interface ReleaseManifest {
  version: string;
  /** Digest of each migration's statements, in the order they run in. */
  migrations: Record<string, string>;
  /** Digest of each recorded history in test/replay/histories. */
  histories: Record<string, string>;
}

const DIRECTORY = fileURLToPath(new URL('.', import.meta.url));
const HISTORIES = fileURLToPath(new URL('../replay/histories', import.meta.url));

/** The manifest that the working tree would be released with. */
export async function describeTree(version: string): Promise<ReleaseManifest> {
  const plans = await planMigrations();
  const files = (await readdir(HISTORIES)).filter((name) => name.endsWith('.json')).sort();
  const contents = await Promise.all(files.map((file) => readFile(`${HISTORIES}/${file}`, 'utf8')));
  return {
    version,
    migrations: Object.fromEntries(plans.map((plan) => [plan.name, digest(JSON.stringify(plan.statements))])),
    histories: Object.fromEntries(files.map((file, place) => [file, digest(contents[place]!)])),
  };
}

/** All released manifests, the oldest first. */
export async function readReleases(): Promise<ReleaseManifest[]> {
  const files = (await readdir(DIRECTORY)).filter((name) => name.endsWith('.json'));
  const releases = await Promise.all(
    files.map(async (file) => JSON.parse(await readFile(`${DIRECTORY}/${file}`, 'utf8')) as ReleaseManifest),
  );
  return releases.sort((a, b) => a.version.localeCompare(b.version, 'en', { numeric: true }));
}

/** Writes the manifest of a version; once written it stays. */
export async function writeRelease(manifest: ReleaseManifest): Promise<string> {
  const file = `${DIRECTORY}/${manifest.version}.json`;
  await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`, { flag: 'wx' });
  return file;
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
