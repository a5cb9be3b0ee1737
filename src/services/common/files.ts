import {
  appendChunk,
  deleteDraftsOf,
  findStoredFile,
  giveKey,
  insertDraft,
  insertStoredFile,
  readChunk,
} from '../../persistence/common/stored-files.repository.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import type { FileStore } from './ports.ts';

/** Files as rows of the database, in pieces. */
export function createDatabaseFileStore(db: Database): FileStore {
  return {
    put: insertStoredFile,
    async read(sql, accountId, key) {
      const file = await findStoredFile(sql, accountId, key);
      if (!file) return null;
      const pieces: Buffer[] = [];
      for await (const piece of piecesOf(sql, file)) pieces.push(piece);
      return Buffer.concat(pieces).toString();
    },
    async open(accountId, key) {
      const file = await findStoredFile(db, accountId, key);
      return file && { ...file, pieces: () => piecesOf(db, file) };
    },
    async draft(tx, draft) {
      const id = await insertDraft(tx, draft);
      let pieces = 0;
      let size = 0;
      return {
        async append(piece) {
          await appendChunk(tx, id, pieces++, piece);
          size += piece.length;
        },
        async publish(publishing, key, now) {
          await giveKey(publishing, id, key, size, now);
          return id;
        },
      };
    },
    discard: deleteDraftsOf,
  };
}

/** @throws when the file ends before its last piece, because it was removed meanwhile */
async function* piecesOf(sql: Sql, file: { id: number; size: number }): AsyncGenerator<Buffer> {
  let read = 0;
  for (let ordinal = 0; read < file.size; ordinal += 1) {
    const piece = await readChunk(sql, file.id, ordinal);
    if (piece === null) throw new Error(`the file ${file.id} was removed while it was read`);
    read += piece.length;
    yield piece;
  }
}
