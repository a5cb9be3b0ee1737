import type { Sql } from '../database/sql.ts';

export interface NewAttachment {
  filename: string;
  content: Uint8Array;
}

export interface AttachmentSize {
  filename: string;
  size: number;
}

/** The files of a script by id, with their sizes in bytes. */
export async function listAttachments(sql: Sql, scriptId: number): Promise<AttachmentSize[]> {
  return sql.query<AttachmentSize>(
    'select filename, size from script_attachment where script_id = :scriptId and current order by id',
    { scriptId },
  );
}

/** The bytes of a current file of a script, or null. */
export async function readAttachment(sql: Sql, scriptId: number, id: number): Promise<Buffer | null> {
  const rows = await sql.query<{ content: Buffer }>(
    'select content from script_attachment where id = :id and script_id = :scriptId and current',
    { scriptId, id },
  );
  return rows[0]?.content ?? null;
}

/** A file that an open operation delivered to the computer names, or null. @see docs/agent-protocol.md#scripts */
export async function readAttachmentFor(sql: Sql, computerId: number, id: number): Promise<Buffer | null> {
  const rows = await sql.query<{ content: Buffer }>(READ_FOR, { computerId, id });
  return rows[0]?.content ?? null;
}

/**
 * Replaces the files of a script, locked by the caller; removed ones stay for stored runs that name them.
 * @param kept - names of present files that stay
 */
export async function replaceAttachments(
  tx: Sql,
  scriptId: number,
  kept: readonly string[],
  added: readonly NewAttachment[],
): Promise<void> {
  await tx.query(
    'update script_attachment set current = false where script_id = :scriptId and current and filename <> all(:kept::text[])',
    { scriptId, kept },
  );
  await deleteUnnamedAttachments(tx, [scriptId]);
  await tx.query(
    `insert into script_attachment (script_id, filename, content, size)
     select :scriptId, filename, content, length(content)
     from unnest(:filenames::text[], :contents::bytea[]) with ordinality as f(filename, content, position) order by position`,
    {
      scriptId,
      filenames: added.map(({ filename }) => filename),
      contents: added.map(({ content }) => Buffer.from(content)),
    },
  );
}

/** Locks the scripts of messages, in order, after batches: no run starts, no file is replaced. @returns their ids */
export async function lockScriptsOfPayloads(tx: Sql, payloads: readonly number[]): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(LOCK_SCRIPTS, { payloads });
  return rows.map(({ id }) => id);
}

/** Deletes the replaced files of locked scripts that no stored run names. Idempotent. */
export async function deleteUnnamedAttachments(tx: Sql, scriptIds: readonly number[]): Promise<void> {
  await tx.query(DELETE_UNNAMED, { scriptIds });
}

export async function deleteAttachments(tx: Sql, scriptId: number): Promise<void> {
  await tx.query('delete from script_attachment where script_id = :scriptId', { scriptId });
}

const LOCK_SCRIPTS = `
  select s.id from script s
  where s.id in (select script_id from operation_payload where id = any(:payloads::bigint[]))
    and exists (select from script_attachment f where f.script_id = s.id)
  order by s.id for no key update of s`;

// The names are collected once, and only when there is a replaced file.
const DELETE_UNNAMED = `
  delete from script_attachment f
  where f.script_id = any(:scriptIds::int[]) and not f.current and to_jsonb(f.id) not in (
    select n.value from operation_payload p cross join jsonb_each(p.fields->'attachments') n
    where p.script_id = any(:scriptIds::int[]))`;

const READ_FOR = `
  select f.content from script_attachment f
  where f.id = :id and exists (
    select from activity a
    join agent_message m on m.activity_id = a.id and m.state in ('sent', 'acked')
    join operation_payload p on p.id = a.payload_id and p.script_id = f.script_id
    where a.computer_id = :computerId and a.type = 'ExecuteScriptRequest' and a.status in ('undelivered', 'delivered', 'canceled')
      and exists (select from jsonb_each(p.fields->'attachments') n where n.value = to_jsonb(f.id)))`;
