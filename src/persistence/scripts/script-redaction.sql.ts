import type { Sql } from '../database/sql.ts';
import { isOpen } from '../database/status-sql.ts';
import { ScriptVersion } from './script.entity.ts';
import type { ScriptRow } from './scripts.sql.ts';

/** Open operations with the code of a script. */
export async function findOpenRuns(tx: Sql, scriptId: number): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(OPEN_RUNS, { scriptId });
  return rows.map(({ id }) => id);
}

type PayloadScript = Pick<ScriptRow, 'status' | 'access_group_id'>;

/** Scripts by payload id, locked until the transaction ends. */
export async function lockPayloadScripts(tx: Sql, payloads: readonly number[]): Promise<Map<number, PayloadScript>> {
  if (payloads.length === 0) return new Map();
  const distinct = [...new Set(payloads)];
  await tx.query(
    `select id from script where id in (select script_id from operation_payload where id = any(:distinct::bigint[]))
     order by id for share`,
    { distinct },
  );
  const rows = await tx.query<PayloadScript & { payload: number }>(
    `select p.id as payload, s.status, s.access_group_id from operation_payload p join script s on s.id = p.script_id
     where p.id = any(:distinct::bigint[])`,
    { distinct },
  );
  return new Map(rows.map(({ payload, ...script }) => [payload, script]));
}

/** Deletes a script's code everywhere; agents reject what is sent again. @see docs/agent-protocol.md#scripts */
export async function wipeCode(tx: Sql, scriptId: number): Promise<void> {
  await tx.em.nativeUpdate(ScriptVersion, { script: scriptId }, { code: null });
  await tx.query('update operation_payload set fields = fields || :wiped::jsonb where script_id = :scriptId', {
    scriptId,
    wiped: JSON.stringify(WIPED),
  });
}

// No path below /dev/null exists on any machine.
const WIPED = { interpreter: '/dev/null/redacted', code: '', attachments: {}, env: {} };

const OPEN_RUNS = `
  select a.id
  from operation_payload p join activity a on a.payload_id = p.id and a.type = 'ExecuteScriptRequest'
  where p.script_id = :scriptId and ${isOpen('a.status')} order by a.id`;
