import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Folder {
  path: string;
  /** Writes a file and returns its path. */
  write(name: string, text: string, mode?: number): Promise<string>;
  remove(): Promise<void>;
}

export async function temporaryFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'flotilla-pam-'));
  return {
    path,
    async write(name, text, mode = 0o644) {
      const file = join(path, name);
      await writeFile(file, text);
      await chmod(file, mode);
      return file;
    },
    remove: () => rm(path, { recursive: true }),
  };
}

/** A helper that knows one login, hangs for `hang`, and is undecided for `away`. */
export const SCRIPTED_HELPER = `#!/bin/sh
input=$(tr '\\000' '|')
case "$input" in
  "fleet|ada|right horse|") exit 0 ;;
  *"|hang|"*) sleep 60 & wait ;;
  *"|away|"*) exit 2 ;;
esac
exit 1
`;

/** Whether this machine has what our own helper needs. */
export function hasPam(): boolean {
  const probe = 'import ctypes; ctypes.CDLL("libpam.so.0").pam_start_confdir';
  return spawnSync('python3', ['-I', '-c', probe]).status === 0;
}
