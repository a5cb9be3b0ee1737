import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Ids of packages by their hashes in hex, of a file that the server offers. */
export type HashIds = ReadonlyMap<string, number>;

/** The files that the agents of a fleet have downloaded; equal ones are read once. */
export class HashIdFiles {
  readonly #files = new Map<string, Promise<HashIds>>();

  /** @throws if it is no such file */
  read(file: Buffer): Promise<HashIds> {
    const digest = createHash('sha256').update(file).digest('hex');
    let ids = this.#files.get(digest);
    if (!ids) {
      ids = readFile(file);
      this.#files.set(digest, ids);
    }
    return ids;
  }
}

async function readFile(file: Buffer): Promise<HashIds> {
  const directory = await mkdtemp(join(tmpdir(), 'flotilla-agent-'));
  try {
    const path = join(directory, 'hash-ids');
    await writeFile(path, file);
    const database = new DatabaseSync(path, { readOnly: true });
    const rows = database.prepare('select id, hash from hash').all() as Array<{ id: number; hash: Uint8Array }>;
    database.close();
    return new Map(rows.map(({ id, hash }) => [Buffer.from(hash).toString('hex'), id]));
  } finally {
    await rm(directory, { recursive: true });
  }
}
