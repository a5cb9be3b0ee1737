import { createHash, randomBytes } from 'node:crypto';
import { chownSync, cpSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { chown, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { runAs, type UnprivilegedUser } from '../processes/unprivileged.ts';
import { StackError } from '../stack-error.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { failure, spawnAs } from './run-postgres.ts';

export interface ClusterOptions {
  /** Directory of the cluster, created if missing. Its parent has to exist. */
  dataDir: string;
  /** Of the superuser. Kept by the cluster from its first start on. */
  password: string;
  superuser: string;
  logFile: string;
  /** False skips every flush to disk. */
  durable: boolean;
  /** Keeps the cluster that new ones are copies of; null: none is kept. */
  cache: string | null;
}

/** Runs a program of PostgreSQL on the cluster. @throws {StackError} when it fails */
type Run = (what: string, command: readonly string[], input?: string) => Promise<void>;

const INITDB = [
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--auth=scram-sha-256',
  '--no-instructions',
  '--no-sync',
];

/**
 * Creates the cluster if there is none, and checks it otherwise.
 * @throws {StackError} when the directory is something else, of another version or of another user
 */
export async function ensureCluster(
  binaries: PostgresBinaries,
  user: UnprivilegedUser | null,
  options: ClusterOptions,
): Promise<void> {
  const { dataDir } = options;
  if (await stat(join(dataDir, 'PG_VERSION')).catch(() => null)) return checkCluster(dataDir, user);
  if (await stat(dataDir).catch(() => null)) {
    throw new StackError(`${dataDir} exists but is not a PostgreSQL data directory: move it away or restore it.`);
  }
  // Created under another name first: an interrupted start must leave nothing that looks like a cluster.
  const draft = `${dataDir}.new`;
  await rm(draft, { recursive: true, force: true });
  await createCluster(binaries, user, { ...options, dataDir: draft });
  await rename(draft, dataDir);
}

async function checkCluster(dataDir: string, user: UnprivilegedUser | null): Promise<void> {
  const version = (await readFile(join(dataDir, 'PG_VERSION'), 'utf8')).trim();
  if (version !== '18') {
    throw new StackError(`${dataDir} was made by PostgreSQL ${version}, the embedded one is 18: dump and restore it.`);
  }
  const owner = (await stat(dataDir)).uid;
  const wanted = user?.uid ?? process.getuid?.();
  if (owner !== wanted) {
    throw new StackError(
      `${dataDir} belongs to user id ${owner}, PostgreSQL would run as ${wanted}: ` +
        'start Flotilla as the user who made it, or choose another FLOTILLA_DATA_DIR.',
    );
  }
}

/** Copies the cluster that `initdb` made for an earlier start of the same version, which saves half a second. */
async function createCluster(binaries: PostgresBinaries, user: UnprivilegedUser | null, options: ClusterOptions) {
  const { dataDir, password, superuser, logFile, durable, cache } = options;
  const run: Run = async (what, command, input) => {
    const child = spawnAs(runAs(user, [command[0]!, dataDir]), command, logFile, input !== undefined);
    child.stdin?.on('error', () => undefined).end(input);
    const code = await new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
    if (code !== 0) throw await failure(`${what} failed`, logFile);
  };
  const role = `alter role ${pg.escapeIdentifier(superuser)} password ${pg.escapeLiteral(password)}\n`;
  // An error must not put the statement into the log.
  const settings = ['-c', 'log_min_error_statement=panic', '-c', 'fsync=off'];
  const setPassword = () =>
    run('setting the password', [binaries.postgres, '--single', ...settings, '-D', dataDir, 'postgres'], role);
  const template = cache === null ? null : join(cache, templateName(binaries, superuser));
  const isCopied =
    template !== null &&
    copyTemplate(template, dataDir, user) &&
    (await setPassword().then(
      () => true,
      () => false,
    ));
  if (!isCopied) {
    for (const directory of [dataDir, template]) if (directory) rmSync(directory, { recursive: true, force: true });
    await mkdir(dataDir, { mode: 0o700 });
    if (user) await chown(dataDir, user.uid, user.gid);
    await initialize(run, binaries, user, options);
    if (template) saveTemplate(dataDir, template);
    await setPassword();
  }
  // Of a thousand small files, one at a time would take up to 0.7 s.
  if (durable) await run('initdb', [binaries.initdb, '--sync-only', '--sync-method=syncfs', '-D', dataDir]);
}

/** With a random password that is not stored. */
async function initialize(
  run: Run,
  binaries: PostgresBinaries,
  user: UnprivilegedUser | null,
  { dataDir, superuser }: ClusterOptions,
): Promise<void> {
  const passwordFile = `${dataDir}.${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(passwordFile, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
    if (user) await chown(passwordFile, user.uid, user.gid);
    const command = [binaries.initdb, '-D', dataDir, ...INITDB, `--username=${superuser}`, `--pwfile=${passwordFile}`];
    await run('initdb', command);
  } finally {
    await rm(passwordFile, { force: true });
  }
}

function templateName({ version }: PostgresBinaries, superuser: string): string {
  const digest = createHash('sha256')
    .update([...INITDB, superuser].join('\n'))
    .digest('hex')
    .slice(0, 12);
  return `postgres-${version}-${digest}`;
}

/** False when there is no template or it cannot be read. */
function copyTemplate(template: string, dataDir: string, user: UnprivilegedUser | null): boolean {
  try {
    mkdirSync(dataDir, { mode: 0o700 });
    cpSync(template, dataDir, { recursive: true });
    if (!user) return true;
    chownSync(dataDir, user.uid, user.gid);
    for (const name of readdirSync(dataDir, { recursive: true, encoding: 'utf8' }))
      chownSync(join(dataDir, name), user.uid, user.gid);
    return true;
  } catch {
    return false;
  }
}

/** For later starts; a cache that cannot be written only makes them slower. */
function saveTemplate(dataDir: string, template: string): void {
  const draft = `${template}.${process.pid}`;
  try {
    mkdirSync(draft, { recursive: true, mode: 0o700 });
    cpSync(dataDir, draft, { recursive: true });
    renameSync(draft, template);
  } catch {
    // Another process may have been faster.
    rmSync(draft, { recursive: true, force: true });
  }
}
