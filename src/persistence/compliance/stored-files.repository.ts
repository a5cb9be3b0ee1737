import { LockMode } from '@mikro-orm/core';
import type { Sql } from '../database/sql.ts';
import { StoredFile } from './stored-file.entity.ts';

export interface FileDraft extends Pick<StoredFile, 'kind' | 'profileId' | 'creationTime'> {
  accountId: number;
  activityId: number | null;
}

export interface NewFile extends Omit<FileDraft, 'activityId'> {
  key: string;
  content: string;
}

export type FoundFile = Pick<StoredFile, 'id' | 'kind' | 'profileId' | 'size'>;

/** Inserts and publishes a file of one chunk; a file with the same key loses it. */
export async function insertStoredFile(tx: Sql, { key, content, ...file }: NewFile): Promise<void> {
  const id = await insertDraft(tx, { ...file, activityId: null });
  await appendChunk(tx, id, 0, Buffer.from(content));
  await publishDraft(tx, id, key, Buffer.byteLength(content), file.creationTime);
}

/** Inserts an empty file without a key, invisible until {@link publishDraft}. @returns its id */
export async function insertDraft({ em }: Sql, { accountId: account, ...draft }: FileDraft): Promise<number> {
  const created = em.create(StoredFile, { ...draft, account });
  await em.flush();
  return created.id;
}

/** @throws when the draft no longer exists */
export async function appendChunk(tx: Sql, id: number, ordinal: number, content: Buffer): Promise<void> {
  await tx.em.getKysely().insertInto('stored_file_chunk').values({ file_id: id, ordinal, content }).execute();
}

/** Publishes a file under a key of its account; another file loses that key. @throws when the file no longer exists */
export async function publishDraft({ em }: Sql, id: number, key: string, size: number, now: Date): Promise<void> {
  const draft = await em.findOne(StoredFile, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!draft) throw new Error(`the file ${id} no longer exists`);
  const { account } = draft;
  await em.nativeUpdate(StoredFile, { account, key }, { key: null, creationTime: now });
  em.assign(draft, { key, size, creationTime: now });
  await em.flush();
}

/** Deletes the unpublished files of an activity. Idempotent. */
export async function deleteDrafts(sql: Sql, activityId: number): Promise<void> {
  await sql.em.nativeDelete(StoredFile, { activityId, key: null });
}

/** A file of an account by its key, or null. */
export async function findStoredFile(sql: Sql, accountId: number, key: string): Promise<FoundFile | null> {
  const files = sql.em.getKysely().selectFrom('stored_file').select(['id', 'kind', 'profile_id as profileId', 'size']);
  const found = await files.where('account_id', '=', accountId).where('key', '=', key).executeTakeFirst();
  return found ?? null;
}

/** One chunk of a file; null after the last. */
export async function readChunk(sql: Sql, id: number, ordinal: number): Promise<Buffer | null> {
  const chunks = sql.em.getKysely().selectFrom('stored_file_chunk').select('content');
  const found = await chunks.where('file_id', '=', id).where('ordinal', '=', ordinal).executeTakeFirst();
  return found?.content ?? null;
}
