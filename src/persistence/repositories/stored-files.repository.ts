import type { Sql } from '../sql.ts';

/** A file that is found by its key alone. */
export interface StoredFile {
  accountId: number;
  key: string;
  kind: 'tailoring' | 'report';
  profileId: number;
  content: string;
  creationTime: Date;
}

/** Stores a file. */
export async function insertStoredFile(tx: Sql, file: StoredFile): Promise<void> {
  await tx.query(
    `insert into stored_file (account_id, key, kind, profile_id, content, creation_time) values ($1, $2, $3, $4, $5, $6)`,
    [file.accountId, file.key, file.kind, file.profileId, Buffer.from(file.content), file.creationTime],
  );
}

/** The content of a file of an account, or null. */
export async function readStoredFile(sql: Sql, accountId: number, key: string): Promise<string | null> {
  const rows = await sql.query<{ content: Buffer }>(
    'select content from stored_file where account_id = $1 and key = $2',
    [accountId, key],
  );
  return rows[0]?.content.toString() ?? null;
}
