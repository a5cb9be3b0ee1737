import type { Credentials } from '@flotilla/client';
import { CliError, EXIT } from '../errors.ts';
import { findServer, type StoredServers } from './server-file.ts';

/** The server to use, and the credentials for it. */
export interface Connection {
  url: string;
  credentials: Credentials;
}

/**
 * Chooses the server: `--server`, else `FLOTILLA_URL` (or `FLOTILLA_API_URI`, as it is called where the API shows an access
 * key), else the current one. A token of the environment only goes to an
 * address that is given with it, never to a stored server.
 *
 * @param server - a stored name, or an address
 * @throws {CliError} naming the remedy when there is no server or no login
 */
export function chooseConnection(
  stored: StoredServers,
  env: NodeJS.ProcessEnv,
  server: string | undefined,
): Connection {
  const named = server !== undefined && !isUrl(server);
  const address = named ? undefined : (server ?? env['FLOTILLA_URL'] ?? env['FLOTILLA_API_URI']);
  if (address !== undefined && address !== '') return connectTo(normalizeUrl(address), stored, env);
  const name = named ? server : stored.current;
  if (!named && env['FLOTILLA_TOKEN']) {
    throw new CliError(EXIT.usage, 'FLOTILLA_TOKEN is set: set FLOTILLA_URL to the address of its server, too');
  }
  if (name === null) throw new CliError(EXIT.usage, 'Log in first: flotilla login URL');
  const { url, token } = findServer(stored, name);
  return { url, credentials: { token } };
}

function connectTo(url: string, stored: StoredServers, env: NodeJS.ProcessEnv): Connection {
  const { FLOTILLA_TOKEN: token, FLOTILLA_API_KEY: accessKey, FLOTILLA_API_SECRET: secretKey } = env;
  if (token) return { url, credentials: { token } };
  if (accessKey && secretKey) return { url, credentials: { accessKey, secretKey } };
  const found = stored.servers.find((server) => server.url === url);
  if (found) return { url, credentials: { token: found.token } };
  throw new CliError(EXIT.usage, `There is no login for ${url}. Log in: flotilla login ${url}, or set FLOTILLA_TOKEN`);
}

/**
 * The address of a server without `/api/v2` and without a slash at the end.
 *
 * @throws {CliError} unless it is one of http or https without a name and password in it
 */
export function normalizeUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !isUrl(text) || url.search !== '' || url.hash !== '') {
    throw new CliError(EXIT.usage, `${text} is not the address of a server, such as https://fleet.example.com`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new CliError(EXIT.usage, 'The address must not contain a name or password: they would be stored and shown');
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/api(\/v2)?$/, '')}`;
}

function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text);
}
