import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { CliError, EXIT } from '../errors.ts';

/** A server with a stored login. */
export interface StoredServer {
  name: string;
  /** Without `/api/v2` and without a slash at the end. */
  url: string;
  email: string;
  token: string;
}

export interface StoredServers {
  /** Name of the server that commands use; null before the first login. */
  current: string | null;
  servers: StoredServer[];
}

/** Where logins are stored: `flotilla/servers.json` in the configuration directory of the user. */
export function serverFilePath(env: NodeJS.ProcessEnv): string {
  const base = env['XDG_CONFIG_HOME'] ?? '';
  return join(isAbsolute(base) ? base : join(homedir(), '.config'), 'flotilla', 'servers.json');
}

/** Reads the stored logins; there are none without the file. @throws {CliError} when the file is damaged */
export async function readServers(path: string): Promise<StoredServers> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: null, servers: [] };
    throw error;
  }
  try {
    const { current, servers } = JSON.parse(text) as StoredServers;
    if (Array.isArray(servers)) return { current, servers };
  } catch {
    // Reported below.
  }
  throw new CliError(EXIT.usage, `${path} is damaged. Remove it and log in again: flotilla login URL`);
}

/** Replaces the file in one step, readable by its owner alone. */
export async function writeServers(path: string, stored: StoredServers): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFileAtomic(path, `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600 });
}

/** The logins with this one added, or in place of the one of the same name, and current. */
export function withServer(stored: StoredServers, server: StoredServer): StoredServers {
  const others = stored.servers.filter(({ name }) => name !== server.name);
  return { current: server.name, servers: [...others, server].sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** The login of a name. @throws {CliError} when there is none */
export function findServer({ servers }: StoredServers, name: string): StoredServer {
  const found = servers.find((server) => server.name === name);
  if (found) return found;
  throw new CliError(EXIT.usage, `There is no login named ${name}; "flotilla servers" lists them`);
}

/** The logins without this one. */
export function withoutServer(stored: StoredServers, name: string): StoredServers {
  const servers = stored.servers.filter((server) => server.name !== name);
  return { current: stored.current === name ? null : stored.current, servers };
}
