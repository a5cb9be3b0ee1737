import { LockMode } from '@mikro-orm/core';
import type { ScriptBody } from '../../domain/scripts/script.ts';
import type { Sql } from '../database/sql.ts';
import { Script, ScriptAttachment, ScriptVersion } from './script.entity.ts';
import { deleteUnnamedAttachments } from './script-attachments.sql.ts';

export interface Edit {
  editorId: number;
  now: Date;
}

/** Locks a script: `change` exclusively, `use` against changes. @returns it as of the lock; null if missing */
export function lockScript(tx: Sql, id: number, purpose: 'change' | 'use'): Promise<Script | null> {
  const lockMode = purpose === 'change' ? LockMode.PESSIMISTIC_WRITE : LockMode.PESSIMISTIC_READ;
  return tx.em.findOne(Script, id, { lockMode });
}

type NewScript = Pick<Script, 'title' | 'timeLimit' | 'username'> & { account: number; accessGroup: number };

/** @returns id of the new script. @throws a violation of `script_title` when another active one has the title */
export async function insertScript({ em }: Sql, script: NewScript, body: ScriptBody, edit: Edit): Promise<number> {
  const { editorId: creatorId, now: createdAt } = edit;
  const editor = { creatorId, createdAt, lastEditorId: creatorId, lastEditedAt: createdAt };
  const created = em.create(Script, { ...script, ...editor });
  em.create(ScriptVersion, { ...body, script: created, version: 1, title: script.title, creatorId, createdAt });
  await em.flush();
  return created.id;
}

export interface ScriptChange {
  title?: string | undefined;
  timeLimit?: number | undefined;
  username?: string | undefined;
  status?: Script['status'] | undefined;
  accessGroup?: number | undefined;
  body?: ScriptBody | undefined;
}

/** Changes the given parts. @throws a violation of `script_title` when another active one has the title */
export async function updateScript(
  { em }: Sql,
  id: number,
  { body, ...change }: ScriptChange,
  { editorId, now }: Edit,
): Promise<void> {
  const script = await em.findOneOrFail(Script, id);
  em.assign(script, { ...change, lastEditorId: editorId, lastEditedAt: now }, { ignoreUndefined: true });
  if (body) {
    script.version += 1;
    const { version, title } = script;
    em.create(ScriptVersion, { ...body, script, version, title, creatorId: editorId, createdAt: now });
  }
  await em.flush();
}

export interface NewAttachment {
  filename: string;
  content: Uint8Array;
}

/** The current files, oldest first; `size` in bytes. */
export function listAttachments(sql: Sql, scriptId: number): Promise<Array<{ filename: string; size: number }>> {
  const files = sql.em.getKysely().selectFrom('script_attachment').select(['filename', 'size']);
  return files.where('script_id', '=', scriptId).where('current', '=', true).orderBy('id').execute();
}

/** The bytes of a current file of a script, or null. */
export async function readAttachment(sql: Sql, script: number, id: number): Promise<Uint8Array | null> {
  const file = await sql.em.findOne(ScriptAttachment, { id, script, current: true });
  return file?.content ?? null;
}

/** Replaces the files of a locked script but those `kept`; removed ones stay for stored runs that name them. */
export async function replaceAttachments(
  tx: Sql,
  script: number,
  kept: readonly string[],
  added: readonly NewAttachment[],
): Promise<void> {
  const removed = { script, current: true, filename: { $nin: [...kept] } };
  await tx.em.nativeUpdate(ScriptAttachment, removed, { current: false });
  await deleteUnnamedAttachments(tx, [script]);
  const rows = added.map(({ filename, content }) => {
    return { script, filename, content: Buffer.from(content), size: content.length };
  });
  await tx.em.insertMany(ScriptAttachment, rows);
}

/** Deletes all files of a script, also those of earlier runs. Idempotent. */
export async function deleteAttachments(tx: Sql, script: number): Promise<void> {
  await tx.em.nativeDelete(ScriptAttachment, { script });
}
