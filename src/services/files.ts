import { insertStoredFile, readStoredFile } from '../persistence/repositories/stored-files.repository.ts';
import type { Database } from '../persistence/sql.ts';
import type { FileStore } from './ports.ts';

/** Files as rows of the database. */
export function createDatabaseFileStore(db: Database): FileStore {
  return {
    put: insertStoredFile,
    read: (accountId, key) => readStoredFile(db, accountId, key),
  };
}
