import {
  appendChunk,
  deleteDrafts,
  findStoredFile,
  publishDraft,
  insertDraft,
  insertStoredFile,
  readChunk,
} from '../../persistence/compliance/stored-files.repository.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import type { FileStore } from './ports.ts';

/** Stores files in the database, in chunks. */
export function createDatabaseFileStore(db: Database): FileStore {
  return {
    put: insertStoredFile,
    async read(sql, accountId, key) {
      const file = await findStoredFile(sql, accountId, key);
      if (!file) return null;
      const chunks: Buffer[] = [];
      for await (const chunk of readChunks(sql, file)) chunks.push(chunk);
      return Buffer.concat(chunks).toString();
    },
    async open(accountId, key) {
      const file = await findStoredFile(db, accountId, key);
      return file && { ...file, chunks: () => readChunks(db, file) };
    },
    async draft(tx, draft) {
      const id = await insertDraft(tx, draft);
      let chunks = 0;
      let size = 0;
      return {
        async append(chunk) {
          await appendChunk(tx, id, chunks++, chunk);
          size += chunk.length;
        },
        async publish(publishing, key, now) {
          await publishDraft(publishing, id, key, size, now);
          return id;
        },
      };
    },
    discard: deleteDrafts,
  };
}

async function* readChunks(sql: Sql, file: { id: number; size: number }): AsyncGenerator<Buffer> {
  let read = 0;
  for (let ordinal = 0; read < file.size; ordinal += 1) {
    const chunk = await readChunk(sql, file.id, ordinal);
    if (chunk === null) throw new Error(`the file ${file.id} was removed while it was read`);
    read += chunk.length;
    yield chunk;
  }
}
