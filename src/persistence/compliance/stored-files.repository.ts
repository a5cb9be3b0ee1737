import type { Sql } from '../database/sql.ts';

export interface FileProperties {
  accountId: number;
  kind: 'tailoring' | 'report';
  profileId: number;
  creationTime: Date;
}

/** A file that is found by its key alone. */
export interface StoredFile extends FileProperties {
  key: string;
  content: string;
}

/** A file that is not published yet. */
export interface FileDraft extends FileProperties {
  /** The activity that writes it; null when a request does. */
  activityId: number | null;
}

export interface FoundFile {
  id: number;
  kind: 'tailoring' | 'report';
  profileId: number;
  /** Bytes. */
  size: number;
}

export async function insertStoredFile(tx: Sql, file: StoredFile): Promise<void> {
  const id = await insertDraft(tx, { ...file, activityId: null });
  await appendChunk(tx, id, 0, Buffer.from(file.content));
  await publishDraft(tx, id, file.key, Buffer.byteLength(file.content), file.creationTime);
}

/** @returns its id */
export async function insertDraft(sql: Sql, draft: FileDraft): Promise<number> {
  const rows = await sql.query<{ id: number }>(
    `insert into stored_file (account_id, kind, profile_id, activity_id, creation_time) values (:accountId, :kind, :profileId, :activityId, :creationTime)
     returning id`,
    draft,
  );
  return rows[0]!.id;
}

/** @throws when the draft no longer exists */
export async function appendChunk(sql: Sql, id: number, ordinal: number, content: Buffer): Promise<void> {
  await sql.query(
    'insert into stored_file_chunk (file_id, ordinal, content) values (:id, :ordinal, :content)',
    { id, ordinal, content },
    'file-chunk',
  );
}

/** Publishes a file under a key of its account; another file loses that key. @throws when the file no longer exists */
export async function publishDraft(tx: Sql, id: number, key: string, size: number, now: Date): Promise<void> {
  await tx.query(
    `update stored_file f set key = null, creation_time = :now from stored_file d
     where d.id = :id and f.account_id = d.account_id and f.key = :key`,
    { id, key, now },
  );
  const rows = await tx.query(
    'update stored_file set key = :key, size = :size, creation_time = :now where id = :id returning id',
    { id, key, size, now },
  );
  if (rows.length === 0) throw new Error(`the file ${id} no longer exists`);
}

export async function deleteDrafts(sql: Sql, activityId: number): Promise<void> {
  await sql.query('delete from stored_file where activity_id = :activityId and key is null', { activityId });
}

/** A file of an account by its key, or null. */
export async function findStoredFile(sql: Sql, accountId: number, key: string): Promise<FoundFile | null> {
  const rows = await sql.query<FoundFile>(
    'select id, kind, profile_id as "profileId", size from stored_file where account_id = :accountId and key = :key',
    { accountId, key },
  );
  return rows[0] ?? null;
}

/** One chunk of a file; null after the last. */
export async function readChunk(sql: Sql, id: number, ordinal: number): Promise<Buffer | null> {
  const rows = await sql.query<{ content: Buffer }>(
    'select content from stored_file_chunk where file_id = :id and ordinal = :ordinal',
    { id, ordinal },
  );
  return rows[0]?.content ?? null;
}
