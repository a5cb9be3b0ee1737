import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** Rows per turn of the event loop. */
const TURN_ROWS = 5_000;

/** The SQLite file that agents read. */
export async function writeHashIdFile(packages: ReadonlyArray<{ id: number; hash: Buffer }>): Promise<Buffer> {
  const directory = await mkdtemp(join(tmpdir(), 'flotilla-hash-ids-'));
  try {
    const path = join(directory, 'database');
    const database = new DatabaseSync(path);
    database.exec('pragma journal_mode = off; pragma synchronous = off');
    database.exec('create table hash (id integer primary key, hash blob unique)');
    database.exec('begin');
    const insert = database.prepare('insert into hash (id, hash) values (?, ?)');
    for (const [place, { id, hash }] of packages.entries()) {
      if (place % TURN_ROWS === 0) await yieldToEventLoop();
      insert.run(id, hash);
    }
    database.exec('commit');
    database.close();
    return await readFile(path);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
