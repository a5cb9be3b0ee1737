import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StackError } from '../stack-error.ts';

/** A user that root becomes for programs that refuse to run as root, as PostgreSQL does. */
export interface UnprivilegedUser {
  name: string;
  uid: number;
  gid: number;
}

/** How to run a program as another user: a prefix of the command line, and the ids to start it with. */
export interface RunAs {
  prefix: readonly string[];
  uid?: number;
  gid?: number;
}

/**
 * The user to run PostgreSQL as; null when this process is not root and needs no other.
 * @throws {StackError} when root finds none
 */
export async function unprivilegedUser(): Promise<UnprivilegedUser | null> {
  if (process.getuid?.() !== 0) return null;
  const entries = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = entries.find((entry) => entry[0] === name) ?? [];
    if (uid && gid && Number(uid) !== 0) return { name, uid: Number(uid), gid: Number(gid) };
  }
  throw new StackError(
    'PostgreSQL does not run as root, and this system has neither a user "postgres" nor "nobody": ' +
      'start Flotilla as a normal user, or set FLOTILLA_DATABASE_URL.',
  );
}

/**
 * How to start a program as the user so that it reaches all the paths. Below a directory closed to others (/root, a
 * private temporary directory) the program keeps one right of root, to pass through directories.
 * @throws {StackError} naming the closed directory when that is not possible here
 */
export function runAs(user: UnprivilegedUser | null, paths: readonly string[]): RunAs {
  if (!user) return { prefix: [] };
  const closed = paths.map((path) => closedAncestor(path, user)).find((directory) => directory !== null);
  if (!closed) return { prefix: [], uid: user.uid, gid: user.gid };
  const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find(existsSync);
  if (!setpriv) {
    throw new StackError(
      `PostgreSQL runs as user "${user.name}" when Flotilla is started by root, and ${closed} is closed to that user: ` +
        `open it (chmod o+x ${closed}), move the project or FLOTILLA_DATA_DIR, start Flotilla as a normal user, ` +
        'or set FLOTILLA_DATABASE_URL.',
    );
  }
  const ids = [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  // access(2) respects the kept right only with this bit; PostgreSQL calls it for its own programs.
  const caps = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup'];
  return { prefix: [setpriv, ...ids, ...caps] };
}

function closedAncestor(path: string, user: UnprivilegedUser): string | null {
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    const { mode, uid, gid } = statSync(directory);
    const mask = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & mask) === 0) return directory;
    if (directory === join(directory, '..')) return null;
  }
}
