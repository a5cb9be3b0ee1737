import type { Sql } from '../database/sql.ts';

/** A file that an open operation delivered to the computer names, or null. @see docs/agent-protocol.md#scripts */
export async function readAttachmentFor(sql: Sql, computerId: number, id: number): Promise<Buffer | null> {
  const rows = await sql.query<{ content: Buffer }>(READ_FOR, { computerId, id });
  return rows[0]?.content ?? null;
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
